import { describe, expect, it } from 'vitest';
import { againstOf, findChoices, inOrder, type Choice } from '@/screens/candidate/against/against';
import { outputText, roundsOf } from '@/screens/candidate/items/answers';
import {
  cellKind,
  changesOf,
  filterOf,
  filterOptions,
  moveInGrid,
} from '@/screens/candidate/items/matrix';
import {
  conflictWords,
  expectedVersion,
  promotionSentence,
  versionToCome,
} from '@/screens/candidate/promote/promotion';
import {
  byScore,
  mainExperiment,
  splitRationale,
  totalTokens,
  trialScore,
} from '@/screens/candidate/roles';
import { traceTree } from '@/screens/candidate/items/TraceView';

const child = { candidate_id: 'c3', baseline: false, parents: [{ candidate_id: 'c1' }] };
const baseline = { candidate_id: 'c0', baseline: true, parents: [] };

describe('with what a candidate is compared', () => {
  it('is the parent unless the address says otherwise', () => {
    expect(againstOf('', child, 'c0')).toEqual({ kind: 'candidate', id: 'c1', as: 'parent' });
    expect(againstOf('baseline', child, 'c0')).toMatchObject({ id: 'c0', as: 'baseline' });
    expect(againstOf('active', child, 'c0')).toEqual({ kind: 'active' });
    expect(againstOf('c9', child, 'c0')).toEqual({ kind: 'candidate', id: 'c9', as: 'other' });
  });

  it('is never the candidate itself', () => {
    expect(againstOf('c3', child, 'c0')).toMatchObject({ id: 'c1' });
    expect(againstOf('baseline', baseline, 'c0')).toEqual({ kind: 'none' });
    expect(againstOf('', { ...child, parents: [] }, 'c0')).toMatchObject({ as: 'baseline' });
  });

  it('is found by number, the exact one first, or by words', () => {
    const choice = (number: number, rationale = ''): Choice => ({
      candidate_id: `x-${number}`,
      number,
      score: null,
      status: null,
      rationale,
      partial: false,
    });
    const all = [choice(120), choice(12), choice(3, 'Name the labels')];
    expect(findChoices(all, '12').map((one) => one.number)).toEqual([12, 120]);
    expect(findChoices(all, 'candidate 3').map((one) => one.number)).toEqual([3]);
    expect(findChoices(all, 'LABELS').map((one) => one.number)).toEqual([3]);
    expect(findChoices(all, ' ')).toHaveLength(3);
    const scored = [
      { ...choice(1), score: 1, partial: true },
      { ...choice(2), score: 0.2 },
      { ...choice(3), score: 0.9 },
    ];
    expect(inOrder(scored).map((one) => one.number)).toEqual([3, 2, 1]);
  });
});

describe('the matrix of items', () => {
  it('takes filters from the address', () => {
    expect(filterOf('regressed')).toBe('regressed');
    expect(filterOf('nonsense')).toBe('all');
    expect(changesOf('changed')).toEqual(['improved', 'regressed']);
    expect(changesOf('all')).toEqual([]);
  });

  it('counts what each filter shows', () => {
    const labels = filterOptions({ improved: 1200, regressed: 3, unchanged: 4 }).map(
      (one) => one.label,
    );
    expect(labels).toEqual([
      'All 1,207',
      'Changed 1,203',
      'Improved 1,200',
      'Regressed 3',
      'Unchanged 4',
    ]);
  });

  it('tells unchanged items that fail from those that pass', () => {
    expect(cellKind({ change: 'unchanged', after: { passed: false } })).toBe('fails');
    expect(cellKind({ change: 'unchanged', after: { passed: true } })).toBe('passes');
    expect(cellKind({ change: 'regressed', after: { passed: false } })).toBe('regressed');
  });

  it('moves by arrow keys and stays inside', () => {
    expect(moveInGrid(0, 'ArrowDown', 10, 4)).toBe(4);
    expect(moveInGrid(8, 'ArrowDown', 10, 4)).toBe(8);
    expect(moveInGrid(0, 'ArrowLeft', 10, 4)).toBe(0);
    expect(moveInGrid(3, 'End', 10, 4)).toBe(9);
    expect(moveInGrid(3, 'x', 10, 4)).toBeNull();
  });
});

describe('a promotion', () => {
  const review = {
    agent: 'support',
    active_version: 3,
    expected_version: 3,
    candidate: { candidate_id: 'c7', number: 7, score: 0.9, status: 'completed' as const },
  };

  it('names the agent and the versions', () => {
    expect(promotionSentence(review)).toBe(
      'Candidate 7 becomes version 4 of support, in place of version 3.',
    );
    expect(expectedVersion(review)).toBe(3);
  });

  it('keeps what ran before the first one', () => {
    const first = { ...review, active_version: null, expected_version: 0 };
    expect(versionToCome(first)).toBe(2);
    expect(expectedVersion(first)).toBeNull();
    expect(promotionSentence(first)).toContain('kept as version 1');
  });

  it('says what a conflict means', () => {
    expect(conflictWords('version_moved', 'support').title).toContain('another version is active');
    expect(conflictWords('already_active', 'support').title).toContain('already');
  });
});

describe('traces', () => {
  it('are steps with names', () => {
    const [read, apply] = traceTree([
      { step: 'read', characters: 120 },
      { name: 'apply', rules: ['a', 'b'], nested: { deep: 1 } },
    ]);
    expect(read?.label).toBe('1. read');
    expect(read?.hint).toBe('characters: 120');
    expect(apply?.children.map((one) => one.label)).toEqual(['rules', 'nested']);
    expect(apply?.children[0]?.text).toBe('a\nb');
  });

  it('keep what is no step as text', () => {
    expect(traceTree('<b>hm</b>')[0]?.text).toBe('<b>hm</b>');
    expect(traceTree(null)).toEqual([]);
    expect(traceTree({ answer: 'x', none: {} }).map((one) => one.text)).toEqual(['x', null]);
  });

  it('end at a depth that can be read', () => {
    let deep: unknown = 'bottom';
    for (let level = 0; level < 30; level += 1) deep = { down: deep };
    let node = traceTree(deep)[0];
    let levels = 0;
    while (node?.children[0]) {
      node = node.children[0];
      levels += 1;
    }
    expect(levels).toBeLessThan(8);
    expect(node?.text).toContain('bottom');
  });
});

describe('answers', () => {
  it('are formatted when they are JSON, and left alone when they are not', () => {
    expect(outputText({ text: '{"a":1}', data: null })).toBe('{\n  "a": 1\n}');
    expect(outputText({ text: '{ no json', data: null })).toBe('{ no json');
    expect(outputText({ text: 'x', data: { b: 2 } })).toBe('{\n  "b": 2\n}');
    expect(outputText(null)).toBe('');
  });

  it('have rounds only where they were refined', () => {
    expect(roundsOf({})).toEqual([]);
    const [first, second] = roundsOf({
      refinement: { answer_round: 1 },
      rounds: [
        { round: 0, output: { text: 'a' }, score: 0.2, passed: false, reason: 'no', error: null },
        { round: 1, output: { text: 'b' }, score: 1, ended_why: 'good enough', model: 'm' },
      ],
    });
    expect(first).toMatchObject({ output: 'a', score: 0.2, answer: false });
    expect(second).toMatchObject({ output: 'b', answer: true, endedWhy: 'good enough' });
  });
});

describe('what a candidate ran', () => {
  const run = (role: 'trial' | 'mini-batch' | 'held_out', items: number, avg: number | null) =>
    ({ role, items, avg_tokens: avg }) as never;

  it('is judged by its trial', () => {
    expect(mainExperiment([run('mini-batch', 3, 1), run('trial', 60, 2)])).toMatchObject({
      role: 'trial',
    });
    expect(mainExperiment([])).toBeUndefined();
    expect(trialScore([run('mini-batch', 3, 1)])).toBeNull();
  });

  it('adds up its tokens, unless some are unknown', () => {
    expect(totalTokens([run('trial', 10, 2.5), run('mini-batch', 0, null)])).toBe(25);
    expect(totalTokens([run('trial', 10, null)])).toBeNull();
  });

  it('lists kin with scores first', () => {
    const kin = [
      { number: 1, score: null, status: null },
      { number: 2, score: 0.3, status: 'completed' },
      { number: 3, score: 0.9, status: 'completed' },
    ];
    expect(byScore(kin).map((one) => one.number)).toEqual([3, 2, 1]);
  });

  it('tells the words of a rationale from the note of its optimizer', () => {
    expect(splitRationale('Dropped a line. [gepa: line]')).toEqual({
      text: 'Dropped a line.',
      by: 'gepa: line',
    });
    expect(splitRationale('Add it. [edits: ["a:b", "c"]]')).toEqual({
      text: 'Add it.',
      by: 'edits: a:b, c',
    });
    expect(splitRationale('See [1]')).toEqual({ text: 'See [1]', by: null });
  });
});
