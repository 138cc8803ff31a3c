import { describe, expect, it } from 'vitest';
import { asConfiguration, changesInWords, compareConfigurations } from '@/lib/configurations';
import { chance, evidenceWords, verdictOf, type Evidence } from '@/lib/evidence';
import { wordDiff } from '@/lib/words';
import { chosenVersions, originOf, originWords } from '@/screens/agents/origin';

describe('where a version came from', () => {
  it('is a run and its candidate after a promotion', () => {
    const origin = originOf({ optimization_id: 'o1', candidate_id: 'c3', score: 0.8 });
    expect(origin).toMatchObject({ kind: 'promoted', runId: 'o1', candidateId: 'c3', score: 0.8 });
  });

  it('is said in words', () => {
    expect(originWords(originOf({ source: 'revert', reverted_to: 2 }))).toBe(
      'Reverted to version 2',
    );
    expect(originWords(originOf({ source: 'request' }))).toBe('Written by hand');
    expect(originWords(originOf({ source: 'configuration' }))).toBe('Configuration file');
    expect(originWords(originOf({}))).toBe('Origin not recorded');
    const automatic = originOf({
      source: 'auto_promote',
      optimizer: 'nightly',
      optimization_id: 'o',
      candidate_id: 'c',
    });
    expect(originWords(automatic)).toContain('nightly');
  });

  it('keeps the run of a baseline', () => {
    expect(originOf({ source: 'baseline', optimization_id: 'o1' })).toMatchObject({
      kind: 'baseline',
      runId: 'o1',
    });
  });
});

describe('which versions are compared', () => {
  const versions = [4, 3, 2, 1].map((version) => ({ version, active: version === 4 }));

  it('is the active one and that before it, unless the address names others', () => {
    expect(chosenVersions(versions, '', '')).toEqual({ before: 3, after: 4 });
    expect(chosenVersions(versions, '1', '3')).toEqual({ before: 1, after: 3 });
    expect(chosenVersions(versions, '99', 'x')).toEqual({ before: 3, after: 4 });
  });

  it('needs two', () => {
    expect(chosenVersions([{ version: 1, active: true }], '', '')).toBeNull();
  });
});

describe('two configurations', () => {
  const before = asConfiguration({
    sections: { system: 'a', user: 'b', old: 'x' },
    parameters: { temperature: 0, stop: ['x'] },
    examples: [{ q: 1 }, { q: 2 }],
  });

  it('are compared part by part', () => {
    const after = asConfiguration({
      sections: { system: 'a', user: 'c', fresh: '' },
      parameters: { temperature: 0.5, stop: ['x'] },
      examples: [{ q: 2 }, { q: 3 }],
    });
    const changes = compareConfigurations(before, after);
    expect(changes.sections.map((one) => [one.name, one.change])).toEqual([
      ['system', 'same'],
      ['user', 'changed'],
      ['fresh', 'added'],
      ['old', 'removed'],
    ]);
    expect(changes.parameters.map((one) => one.change)).toEqual(['changed', 'same']);
    expect(changes.examples.map((one) => one.change)).toEqual(['same', 'added', 'removed']);
    expect(changesInWords(changes)).toBe('3 sections, 1 parameter and 2 examples');
  });

  it('are the same when only examples moved', () => {
    const moved = { ...before, examples: [...before.examples].reverse() };
    expect(changesInWords(compareConfigurations(before, moved))).toBe('nothing');
  });

  it('may have names like those of objects', () => {
    const odd = asConfiguration({ sections: { constructor: 'x' } });
    expect(compareConfigurations(asConfiguration(null), odd).sections[0]).toMatchObject({
      before: null,
      change: 'added',
    });
  });
});

describe('evidence', () => {
  const evidence: Evidence = {
    held_out: true,
    items: 132,
    missing: 0,
    baseline_score: 0.6,
    best_score: 0.78,
    delta: 0.18,
    ci_low: 0.112,
    ci_high: 0.246,
    p_value: 0.0001,
    fixed: 30,
    broken: 4,
    proven: true,
    refuted: false,
  };

  it('is said with its numbers', () => {
    expect(evidenceWords(evidence)).toBe(
      '+0.180 on 132 held-out items (95% interval 0.112 to 0.246, p < 0.001)',
    );
    expect(chance(0.0312)).toBe('p = 0.031');
    expect(chance(0.5)).toBe('p = 0.50');
  });

  it('proves nothing on items of the search', () => {
    expect(verdictOf(evidence)).toBe('proven');
    expect(verdictOf({ ...evidence, held_out: false })).toBe('search_only');
    expect(verdictOf({ ...evidence, proven: false })).toBe('open');
    expect(verdictOf({ ...evidence, refuted: true, proven: false })).toBe('refuted');
  });
});

describe('a word diff', () => {
  it('shows what changed in its place', () => {
    expect(
      wordDiff('Answer in one word.', 'Answer in two words.').map((one) => one.kind),
    ).toContain('same');
  });

  it('shows texts without anything in common one after the other', () => {
    const kinds = wordDiff('Never do a thing, please.', 'Sort tickets by their colour now.');
    expect(kinds.map((one) => one.kind)).toEqual(['removed', 'added']);
  });

  it('loses no letter of either', () => {
    const [before, after] = ['a b c d <b>x</b>', 'a c d e <i>y</i>'];
    const pieces = wordDiff(before, after);
    const of = (kind: string) =>
      pieces
        .filter((one) => one.kind === 'same' || one.kind === kind)
        .map((one) => one.text)
        .join('');
    expect([of('removed'), of('added')]).toEqual([before, after]);
  });
});
