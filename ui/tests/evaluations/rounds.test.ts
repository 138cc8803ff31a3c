import { describe, expect, test } from 'vitest';
import type { ItemRun, RoundView } from '@/screens/evaluations/result';
import {
  judged,
  layout,
  neighbours,
  roundName,
  scorePath,
  stepsOf,
} from '@/screens/evaluations/rounds';

function round(number: number, score: number, changes: Partial<RoundView> = {}): RoundView {
  return {
    round: number,
    output: { text: `v${number}` },
    score,
    passed: false,
    reason: '',
    scores: [],
    error: null,
    model: 'm',
    usage: { calls: 1, input_tokens: 1, output_tokens: 1, cached_tokens: 0, cost_usd: 0 },
    latency_ms: 1,
    cached: false,
    created_at: '',
    ended: null,
    ended_why: null,
    ...changes,
  };
}

function refined(rounds: RoundView[], answer: number): Pick<ItemRun, 'rounds' | 'refinement'> {
  return { rounds, refinement: { answer_round: answer } as ItemRun['refinement'] };
}

describe('the sequence of rounds', () => {
  test('compares each output with the one before, and marks the answer', () => {
    const steps = stepsOf(refined([round(0, 0.5), round(1, 0.25), round(2, 0.75)], 1));
    expect(steps.map((one) => one.before)).toEqual([null, 'v0', 'v1']);
    expect(steps.map((one) => one.delta)).toEqual([null, -0.25, 0.5]);
    expect(steps.map((one) => one.answer)).toEqual([false, true, false]);
  });

  test('leaves rounds without a verdict out of scores, not out of texts', () => {
    const rounds = [round(0, 0.5), round(1, 0, { error: 'judge unavailable' }), round(2, 0.75)];
    const steps = stepsOf(refined(rounds, 2));
    expect(steps.map((one) => one.delta)).toEqual([null, null, 0.25]);
    expect(steps[2]?.before).toBe('v1');
    expect(scorePath(judged(rounds))).toBe('0.50 → 0.75');
  });

  test('has names', () => {
    expect([0, 1].map(roundName)).toEqual(['First output', 'Round 1']);
  });
});

describe('the line over rounds', () => {
  const size = { width: 400, height: 200 };

  test('goes up where scores do, on a scale from 0 to 1', () => {
    const drawn = layout(
      [
        { round: 0, score: 0 },
        { round: 1, score: 1 },
      ],
      0.5,
      size,
    );
    const [first, last] = drawn.points;
    expect(first?.y).toBe(drawn.bottom);
    expect(last?.y).toBe(drawn.ticks.at(-1)?.y);
    expect(first!.x).toBeLessThan(last!.x);
    expect(drawn.threshold).toBe((first!.y + last!.y) / 2);
    expect(drawn.path).toBe(`M${first!.x},${first!.y}L${last!.x},${last!.y}`);
  });

  test('names the threshold where the scores are far from it', () => {
    const up = [
      { round: 0, score: 0.2 },
      { round: 1, score: 0.9 },
    ];
    expect(layout(up, 0.8, size).nameAt).toBe('start');
    expect(layout([...up].reverse(), 0.8, size).nameAt).toBe('end');
  });

  test('draws intervals, one point alone, and scores beyond 1', () => {
    const [only] = layout([{ round: 0, score: 0.5, low: 0.4, high: 0.6 }], null, size).points;
    expect(only!.yHigh!).toBeLessThan(only!.y);
    expect(only!.yLow!).toBeGreaterThan(only!.y);
    const wide = layout([{ round: 0, score: 2 }], null, size);
    expect(wide.ticks.at(-1)?.value).toBe(2);
    expect(layout([], null, size).path).toBe('');
  });

  test('keeps twenty rounds within the frame', () => {
    const points = Array.from({ length: 21 }, (_, at) => ({ round: at, score: 0.5 }));
    const drawn = layout(points, null, size);
    expect(drawn.points[0]!.x).toBeGreaterThanOrEqual(drawn.left);
    expect(drawn.points.at(-1)!.x).toBeLessThanOrEqual(drawn.right);
  });
});

describe('neighbours', () => {
  const runs = [
    { item_id: 'a', repeat: 0 },
    { item_id: 'a', repeat: 1 },
    { item_id: 'b', repeat: 0 },
  ];

  test('are the runs before and after, repeats apart', () => {
    const found = neighbours(runs, 'a', 1);
    expect([found.at, found.before, found.next]).toEqual([1, runs[0], runs[2]]);
    expect(neighbours(runs, 'b', 0).next).toBeUndefined();
  });

  test('are none where the run is not in the list', () => {
    expect(neighbours(runs, 'c', 0)).toEqual({
      at: -1,
      run: undefined,
      before: undefined,
      next: undefined,
    });
  });
});
