import { describe, expect, test } from 'vitest';
import { bestSoFar, decode, front, merge, type PointsAnswer } from '@/screens/run/points';
import { answerOf, point, setOf } from './pointsGiven';

describe('points', () => {
  test('columns become rows', () => {
    const sent = answerOf([point({ number: 0, kind: 'baseline' }), point({ number: 3 })]);

    const rows = decode(sent);

    expect(rows.map((row) => [row.number, row.kind])).toEqual([
      [0, 'baseline'],
      [3, 'trial'],
    ]);
    expect(rows[1]).toEqual(point({ number: 3 }));
  });

  test('what did not change stays the same object, what changed does not', () => {
    const before = merge(undefined, answerOf([point({ number: 0 }), point({ number: 1 })], 5));

    const after = merge(
      before,
      answerOf([point({ number: 0 }), point({ number: 1, score: 0.9 })], 7),
    );

    expect(after.points[0]).toBe(before.points[0]);
    expect(after.points[1]).not.toBe(before.points[1]);
    expect(after.byNumber.get(1)?.score).toBe(0.9);
    expect(after.lastEventId).toBe(7);
  });

  test('an answer without news leaves the list as it is', () => {
    const before = merge(undefined, answerOf([point({ number: 0 })], 5));

    expect(merge(before, answerOf([], 5))).toBe(before);
    expect(merge(before, answerOf([], 6)).points).toBe(before.points);
    expect(merge(before, answerOf([point({ number: 0 })], 4)).lastEventId).toBe(5);
  });

  test('new rows come to their place: trials before the mini-batches of their candidate', () => {
    const mini = point({ number: 1, kind: 'mini-batch', experiment_id: 'mini' });
    const before = merge(undefined, answerOf([point({ number: 0 }), mini, point({ number: 2 })]));

    const after = merge(before, answerOf([point({ number: 1 })], 9));

    expect(after.points.map((one) => one.experiment_id)).toEqual(['e0', 'e1', 'mini', 'e2']);
    expect(before.byNumber.get(1)?.kind).toBe('mini-batch');
    expect(after.byNumber.get(1)?.kind).toBe('trial');
  });

  test('another best is taken over though no row changed', () => {
    const before = merge(undefined, answerOf([point({ number: 0 })]));

    const after = merge(before, { ...answerOf([]), best_candidate_id: 'c0' } as PointsAnswer);

    expect(after.best).toBe('c0');
  });

  test('the best so far rises only, by whole evaluations that ended', () => {
    const points = [
      point({ number: 0, kind: 'baseline', score: 0.5 }),
      point({ number: 1, score: 0.4 }),
      point({ number: 2, score: 0.7, status: 'pruned' }),
      point({ number: 3, score: 1, kind: 'mini-batch', experiment_id: 'm' }),
      point({ number: 4, score: 0.6 }),
      point({ number: 5, score: 0.6 }),
      point({ number: 6, score: null, status: 'running' }),
    ];

    const steps = bestSoFar(points, (one) => one.number);

    expect(steps.map((step) => [step.x, step.score])).toEqual([
      [0, 0.5],
      [4, 0.6],
    ]);
  });

  test('along another axis the best so far follows that axis', () => {
    const points = [
      point({ number: 1, score: 0.9, evaluations: 300 }),
      point({ number: 2, score: 0.6, evaluations: 100 }),
      point({ number: 3, score: 0.7, evaluations: null }),
    ];

    expect(bestSoFar(points, (one) => one.evaluations).map((step) => step.x)).toEqual([100, 300]);
  });

  test('the front keeps what no other beats; equals all stay', () => {
    const set = setOf([
      point({ number: 0, score: 0.5, avg_tokens: 100 }),
      point({ number: 1, score: 0.8, avg_tokens: 200 }),
      point({ number: 2, score: 0.8, avg_tokens: 200 }),
      point({ number: 3, score: 0.8, avg_tokens: 250 }),
      point({ number: 4, score: 0.4, avg_tokens: 100 }),
      point({ number: 5, score: 0.9, avg_tokens: null }),
      point({ number: 6, score: 0.95, avg_tokens: 50, status: 'failed' }),
    ]);

    expect(front(set.points, 'tokens').map((one) => one.number)).toEqual([0, 1, 2]);
  });

  test('the front agrees with comparing everyone with everyone', () => {
    let seed = 3;
    const draw = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
    const points = Array.from({ length: 300 }, (_, number) =>
      point({
        number,
        score: Math.round(draw() * 20) / 20,
        avg_latency_ms: Math.round(draw() * 30),
      }),
    );
    const better = (one: (typeof points)[0], other: (typeof points)[0]) =>
      one.score! >= other.score! &&
      one.avg_latency_ms! <= other.avg_latency_ms! &&
      (one.score! > other.score! || one.avg_latency_ms! < other.avg_latency_ms!);

    const slow = points.filter((one) => !points.some((rival) => better(rival, one)));

    const found = front(points, 'latency').map((one) => one.number);
    expect(found.sort((a, b) => a - b)).toEqual(slow.map((one) => one.number));
  });
});
