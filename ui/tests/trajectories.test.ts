import { describe, expect, it } from 'vitest';
import { blobOf, picturesIn, pictureUrl } from '@/lib/pictures';
import {
  argumentsText,
  compareTranscripts,
  endedWords,
  failingSteps,
  transcriptOf,
} from '@/lib/transcripts';

const call = (id: string, status: string) => ({
  id,
  name: 'find_order',
  arguments: { status, page: 2 },
});
const trace = (status: string) => ({
  transcript: [
    { role: 'system', content: 'Help.' },
    { role: 'user', content: 'Where is it?' },
    { role: 'assistant', content: '', tool_calls: [call('1', status)] },
    { role: 'tool', tool_call_id: '1', name: 'find_order', content: 'none', error: true },
    { role: 'assistant', content: 'Gone.', agent: 'helper' },
  ],
  ended: 'max_steps',
  tokens: 7,
});

describe('a transcript', () => {
  it('has steps with their calls, and what came back beside each', () => {
    const found = transcriptOf(trace('open'));
    expect(found?.entries.map((one) => [one.role, one.step])).toEqual([
      ['system', 0],
      ['user', 0],
      ['assistant', 1],
      ['assistant', 2],
    ]);
    expect(found?.entries[2]?.calls).toEqual([
      { name: 'find_order', arguments: { status: 'open', page: 2 }, result: 'none', failed: true },
    ]);
    expect(found?.entries[3]?.agent).toBe('helper');
    expect(found?.rest).toEqual({ tokens: 7 });
    expect(endedWords(found?.ended ?? '')).toBe('it had no more steps');
  });

  it('is read from calls as chat endpoints write them, and from parallel calls', () => {
    const made = (id: string) => ({ id, function: { name: 'f', arguments: `{"n":"${id}"}` } });
    const found = transcriptOf({
      transcript: [
        { role: 'assistant', content: null, tool_calls: [made('a'), made('b')] },
        { role: 'tool', tool_call_id: 'b', content: 'B' },
        { role: 'tool', tool_call_id: 'a', content: [{ type: 'text' }] },
        { role: 'tool', tool_call_id: 'lost', name: 'g', content: 'nobody asked' },
      ],
    });
    expect(found?.entries[0]?.calls.map((one) => one.result)).toEqual(['[{"type":"text"}]', 'B']);
    expect(found?.entries[1]).toMatchObject({ role: 'tool g', text: 'nobody asked' });
    expect(argumentsText(found?.entries[0]?.calls[0]?.arguments)).toBe('n="a"');
  });

  it('is none where the agent left another trace', () => {
    for (const one of [null, 'text', [], { transcript: 'no list' }, { answer: 1 }])
      expect(transcriptOf(one)).toBeNull();
  });

  it('knows the steps that scorers find wrong', () => {
    const scores = [
      { name: 'order', reason: 'too early', step: 2 },
      { name: 'steps', reason: 'too many', step: 2 },
      { name: 'exact_match', reason: 'wrong' },
    ];
    expect([...failingSteps(scores)]).toEqual([[2, 'order: too early\nsteps: too many']]);
  });
});

describe('two trajectories of one item', () => {
  it('are compared message by message, calls and results included', () => {
    const [before, after] = [transcriptOf(trace('open')), transcriptOf(trace('shipped'))];
    const changes = compareTranscripts(before!, after!);
    expect(changes.map((one) => one.kind)).toEqual(['same', 'same', 'removed', 'added', 'same']);
    expect(compareTranscripts(after!, after!).every((one) => one.kind === 'same')).toBe(true);
  });
});

describe('pictures of a row', () => {
  const cell = { picture: 'img/a.png', media_type: 'image/png', sha256: 'a'.repeat(64) };

  it('come from the server by their hash, never by their path', () => {
    const [found] = picturesIn([cell]);
    expect(pictureUrl(found!)).toBe(`/v1/private/pictures/${'a'.repeat(64)}`);
  });

  it('are nothing else that only looks like one', () => {
    const others = [
      'img/a.png',
      { ...cell, media_type: 'image/svg+xml' },
      { ...cell, sha256: '../x' },
      { ...cell, more: 1 },
      [cell, 'text'],
      [],
    ];
    for (const one of others) expect(picturesIn(one)).toEqual([]);
  });

  it('may stand in the row itself, and are of a safe kind then', () => {
    expect(blobOf('data:image/png;base64,aGk=').type).toBe('image/png');
    expect(blobOf('data:text/html;base64,aGk=').type).toBe('application/octet-stream');
  });
});
