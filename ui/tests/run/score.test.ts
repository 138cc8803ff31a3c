import { describe, expect, test } from 'vitest';
import {
  axisText,
  decimals,
  emptyAxis,
  marksOf,
  readZoom,
  shifted,
  stepsOf,
  timeTicks,
  withBest,
  within,
  writeZoom,
  xRange,
  yRange,
  zoomed,
} from '@/screens/run/score/axis';
import { cloud } from '@/screens/run/score/Marks';
import { nearest, neighbour } from '@/screens/run/score/Plot';
import { lookOf } from '@/screens/run/score/shapes';
import { sentence } from '@/screens/run/score/words';
import { point, setOf } from './pointsGiven';

const run = setOf(
  [
    point({ number: 0, kind: 'baseline', score: 0.4 }),
    point({ number: 1, score: 0.6, parents: [0] }),
    point({ number: 1, kind: 'mini-batch', score: 1, experiment_id: 'm1' }),
    point({ number: 2, score: null, status: 'failed' }),
    point({
      number: 3,
      score: null,
      status: 'running',
      parents: [1],
      evaluations: null,
      cost_so_far_usd: null,
      finished_at: null,
    }),
  ],
  'c1',
);

describe('score by trial', () => {
  test('what runs stands at the height of its parent, what failed on the rail', () => {
    const marks = marksOf(run, 'trial', false);

    expect(marks.map((mark) => [mark.x, mark.y, mark.rail, mark.waiting])).toEqual([
      [0, 0.4, false, false],
      [1, 0.6, false, false],
      [2, 0, true, false],
      [3, 0.6, false, true],
    ]);
  });

  test('what runs has no place in evaluations or cost yet: it stands at the end', () => {
    expect(marksOf(run, 'evaluations', false).at(-1)?.point.number).toBe(3);
    expect(marksOf(run, 'evaluations', false).at(-1)?.x).toBe(30);
    expect(marksOf(run, 'cost', false).at(-1)?.x).toBeCloseTo(0.03);
  });

  test('time counts from the first candidate, in seconds', () => {
    expect(marksOf(run, 'time', false).map((mark) => mark.x)).toEqual([30, 90, 150, 180]);
  });

  test('mini-batches come on demand and never count for the best', () => {
    expect(marksOf(run, 'trial', true)).toHaveLength(5);
    expect(stepsOf(run, 'trial').map((step) => step.score)).toEqual([0.4, 0.6]);
  });

  test('each row knows the best up to it', () => {
    const rows = withBest(marksOf(run, 'trial', false), stepsOf(run, 'trial'));

    expect(rows.map((row) => row.best)).toEqual([0.4, 0.6, 0.6, 0.6]);
  });

  test('a zoom survives the address; nonsense is the whole', () => {
    const whole = [0, 100] as const;

    expect(readZoom(writeZoom([10.5, 20]) ?? '', whole)).toEqual([10.5, 20]);
    for (const text of ['', '5', 'a~b', '20~10', '200~300'])
      expect(readZoom(text, whole)).toBeNull();
  });

  test('zooming and moving stay within the whole', () => {
    expect(zoomed([0, 100], [0, 100], 0.5)).toEqual([25, 75]);
    expect(zoomed([25, 75], [0, 100], 2)).toBeNull();
    expect(shifted([60, 80], [0, 100], 4)).toEqual([80, 100]);
    expect(shifted([10, 30], [0, 100], -1)).toEqual([0, 20]);
  });

  test('marks in a range include its ends', () => {
    const marks = marksOf(run, 'trial', false);

    expect(within(marks, [1, 2]).map((mark) => mark.x)).toEqual([1, 2]);
    expect(within(marks, xRange(marks))).toBe(marks);
    expect(within(marks, [7, 9])).toEqual([]);
  });

  test('the range of scores leaves out what has none, and has room when all are equal', () => {
    const [low, high] = yRange(marksOf(run, 'trial', false));
    expect(low).toBeGreaterThan(0.3);
    expect(high).toBeLessThan(0.7);
    const [from, to] = yRange(marksOf(setOf([point({ number: 0 })]), 'trial', false));
    expect(to - from).toBeGreaterThan(0.03);
    expect(yRange([])).toEqual([0, 1]);
  });

  test('ticks of a time are times that people know', () => {
    expect(timeTicks([0, 300], 5)).toEqual([0, 60, 120, 180, 240, 300]);
    expect(timeTicks([0, 0.02], 5).length).toBeLessThan(7);
  });

  test('values of an axis carry their unit', () => {
    expect(axisText('time', 90)).toBe('1 min 30 s');
    expect(axisText('cost', 0.005, 0.005)).toBe('$0.005');
    expect(axisText('trial', 1200)).toBe('1,200');
    expect(decimals(0.25, 2, 6)).toBe(2);
  });

  test('an axis without values says why', () => {
    const free = setOf([point({ number: 0, cost_so_far_usd: 0 })]);
    const unknown = setOf([point({ number: 0, cost_so_far_usd: null })]);

    expect(emptyAxis('cost', free)).toMatch(/free/);
    expect(emptyAxis('cost', unknown)).toMatch(/price/);
    expect(emptyAxis('trial', free)).toBeNull();
  });

  test('the pointer finds the nearest within reach, the last drawn of equals', () => {
    const xs = [0, 10, 10];
    const ys = [0, 10, 10];

    expect(nearest(xs, ys, 12, 9, 20)).toBe(2);
    expect(nearest(xs, ys, 100, 100, 20)).toBe(-1);
  });

  test('arrow keys reach every point and stop at the ends', () => {
    const xs = [0, 10, 20, 30];
    const ys = [50, 20, 80, 40];

    expect(neighbour(xs, ys, -1, 'right')).toBe(0);
    expect(neighbour(xs, ys, -1, 'left')).toBe(3);
    expect(neighbour(xs, ys, 3, 'right')).toBe(3);
    expect(neighbour(xs, ys, 0, 'up')).toBe(1);
    expect(neighbour(xs, ys, 0, 'down')).toBe(2);
    expect(neighbour(xs, ys, 1, 'up')).toBe(1);
    expect(neighbour([], [], -1, 'right')).toBe(-1);
  });

  test('dots on top of each other cover more, and those beyond the edge do no harm', () => {
    const mask = { size: 1, covers: new Uint8ClampedArray([255]) };

    const covered = cloud(
      3,
      1,
      [
        [0.5, 0.5],
        [1.5, 0.5],
        [1.5, 0.5],
        [9, 9],
        [-4, 0],
      ],
      mask,
      0.5,
    );

    expect([...covered]).toEqual([127, 191, 0]);
  });

  test('each status has a shape of its own, the best a star', () => {
    const looks = run.points.map((one) => lookOf(one, run.best).id);

    expect(looks).toEqual(['baseline', 'best', 'mini', 'failed', 'running']);
    const shapes = new Set(run.points.map((one) => lookOf(one, run.best).path));
    expect(shapes.size).toBe(5);
  });

  test('a point in words', () => {
    const one = point({ number: 4, score: 0.75, ci_low: 0.6, ci_high: 0.85 });

    expect(sentence(one, 0.5, 'c4')).toBe(
      'Trial 4, the best, score 0.750 (95% interval 0.600 to 0.850), +0.250 against the baseline, 5 of 10 items passed',
    );
    expect(sentence(run.points[3]!, 0.5, null)).toMatch(/^Trial 2, failed, no score/);
  });
});
