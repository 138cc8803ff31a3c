import { describe, expect, test } from 'vitest';
import {
  airy,
  asMeasure,
  emptyMeasure,
  frontLine,
  measureText,
  tradeOffs,
} from '@/screens/run/pareto/marks';
import { front } from '@/screens/run/points';
import { point, setOf } from './pointsGiven';

const run = setOf([
  point({ number: 0, kind: 'baseline', score: 0.5, avg_tokens: 120, avg_cost_usd: 0 }),
  point({ number: 1, score: 0.7, avg_tokens: 90, avg_cost_usd: 0 }),
  point({ number: 2, score: 0.8, avg_tokens: 200, avg_cost_usd: 0 }),
  point({ number: 3, kind: 'mini-batch', score: 1, avg_tokens: 10, experiment_id: 'm' }),
  point({ number: 4, score: 0.9, status: 'running', avg_tokens: 50 }),
]);

describe('score against what it takes', () => {
  test('only whole evaluations that ended are drawn, cheapest first', () => {
    expect(tradeOffs(run, 'tokens').map((mark) => mark.point.number)).toEqual([1, 0, 2]);
  });

  test('the line of the front goes on to the edge', () => {
    const line = frontLine(front(run.points, 'tokens'), 'tokens', 250);

    expect(line).toEqual([
      [90, 0.7],
      [200, 0.8],
      [250, 0.8],
    ]);
    expect(frontLine([], 'tokens', 250)).toEqual([]);
  });

  test('what cannot be drawn says why', () => {
    expect(emptyMeasure(tradeOffs(run, 'cost'), 'cost')).toMatch(/free/);
    expect(emptyMeasure([], 'cost')).toMatch(/price/);
    expect(emptyMeasure([], 'latency')).toMatch(/latency/);
    expect(emptyMeasure(tradeOffs(run, 'tokens'), 'tokens')).toBeNull();
  });

  test('values carry their unit, and one point has room around it', () => {
    expect(measureText('tokens', 92)).toBe('92 tokens');
    expect(measureText('latency', 1500)).toBe('1.50 s');
    expect(measureText('cost', 0.00021)).toBe('$0.00021');
    const [from, to] = airy(tradeOffs(setOf([point({ number: 0 })]), 'tokens'));
    expect(to).toBeGreaterThan(from);
    expect(asMeasure('weight')).toBe('tokens');
  });
});
