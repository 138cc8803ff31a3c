import { describe, expect, test } from 'vitest';
import { choosesModel } from '@/screens/run/points';
import { asColumns, writeColumns } from '@/screens/run/trials/columns';
import { csv, csvCell, trialsCsv } from '@/screens/run/trials/csv';
import { asNumber, filtered, nextSort, picked, sorted, type View } from '@/screens/run/trials/view';
import { point } from './pointsGiven';

const ALL: View = { q: '', statuses: [], kind: 'full', low: null, high: null, sort: '' };
const points = [
  point({ number: 0, kind: 'baseline', score: 0.5 }),
  point({ number: 1, score: 0.7, rationale: 'Name the labels' }),
  point({ number: 1, kind: 'mini-batch', score: 1, experiment_id: 'm1' }),
  point({ number: 2, score: null, status: 'failed', error: 'the model is away' }),
  point({ number: 12, score: 0.6, avg_tokens: null }),
];
const numbers = (found: readonly { number: number }[]) => found.map((one) => one.number);

describe('trials', () => {
  test('show the model where the run may choose it', () => {
    const chosen = points.map((one) => ({ ...one, model: `openai/${one.number}` }));
    expect([points, chosen].map(choosesModel)).toEqual([false, true]);
    expect(asColumns('', true)).toContain('model');
    expect(asColumns('')).not.toContain('model');
    expect(writeColumns(asColumns('', true), true)).toBeNull();
    expect(writeColumns(asColumns(''), true)).toContain('score');
    expect(trialsCsv(chosen.slice(0, 1), ['number', 'model'], null)).toContain('openai/0');
  });

  test('filters by kind, status, score and text', () => {
    expect(numbers(filtered(points, ALL))).toEqual([0, 1, 2, 12]);
    expect(numbers(filtered(points, { ...ALL, kind: 'mini-batch' }))).toEqual([1]);
    expect(filtered(points, { ...ALL, kind: 'all' })).toBe(points);
    expect(numbers(filtered(points, { ...ALL, statuses: ['failed'] }))).toEqual([2]);
    expect(numbers(filtered(points, { ...ALL, low: 0.6 }))).toEqual([1, 12]);
    expect(numbers(filtered(points, { ...ALL, low: 0.55, high: 0.65 }))).toEqual([12]);
    expect(numbers(filtered(points, { ...ALL, q: 'LABELS' }))).toEqual([1]);
    expect(numbers(filtered(points, { ...ALL, q: 'away' }))).toEqual([2]);
    expect(numbers(filtered(points, { ...ALL, q: '#12' }))).toEqual([12]);
  });

  test('sorts both ways, what has no value last, equals as the run went', () => {
    const full = filtered(points, ALL);

    expect(numbers(sorted(full, 'score'))).toEqual([0, 12, 1, 2]);
    expect(numbers(sorted(full, '-score'))).toEqual([1, 12, 0, 2]);
    expect(numbers(sorted(full, '-tokens'))).toEqual([0, 1, 2, 12]);
    expect(sorted(full, 'nonsense')).toBe(full);
  });

  test('a column goes down, up, and back to the order of the run', () => {
    expect(nextSort('', 'score')).toBe('-score');
    expect(nextSort('-score', 'score')).toBe('score');
    expect(nextSort('score', 'score')).toBeNull();
    expect(nextSort('score', 'cost')).toBe('-cost');
  });

  test('two are compared: a third takes the place of the first', () => {
    expect(picked([], 4)).toEqual(['4']);
    expect(picked(['4', '7'], 9)).toEqual(['7', '9']);
    expect(picked(['4', '7'], 4)).toEqual(['7']);
  });

  test('what is typed as a score is a number or nothing', () => {
    expect(asNumber(' 0.5 ')).toBe(0.5);
    expect(asNumber('')).toBeNull();
    expect(asNumber('high')).toBeNull();
  });

  test('cells are quoted, and formulas are made harmless', () => {
    expect(csvCell('plain')).toBe('plain');
    expect(csvCell('a "b", c\nd')).toBe('"a ""b"", c\nd"');
    for (const begin of ['=', '+', '-', '@', '\t=', ' =']) {
      const cell = csvCell(`${begin}cmd()`).replace(/^"/, '');
      expect(cell.startsWith("'")).toBe(true);
    }
    expect(csvCell(-0.5)).toBe('-0.5');
    expect(csvCell(null)).toBe('');
    expect(csv(['a', 'b'], [[1, 'x,y']])).toBe('a,b\r\n1,"x,y"\r\n');
  });

  test('the file has the shown columns of the shown rows', () => {
    const text = trialsCsv(points.slice(0, 2), ['number', 'score', 'change', 'rationale'], 0.5);

    expect(text.split('\r\n')).toEqual([
      'number,score,change,rationale,error,candidate_id',
      '0,0.5,0,,,c0',
      `1,0.7,${0.7 - 0.5},Name the labels,,c1`,
      '',
    ]);
  });

  test('ten thousand rows are sorted by one look at each', () => {
    let looks = 0;
    const many = Array.from({ length: 10_000 }, (_, number) =>
      Object.defineProperty(point({ number, rationale: `reason ${number}` }), 'score', {
        get: () => ((looks += 1), ((number * 7919) % 1000) / 1000),
      }),
    );

    expect(sorted(many, '-score')).toHaveLength(many.length);
    expect(looks).toBe(many.length);
    expect(filtered(many, { ...ALL, q: 'reason 1', low: 0.1 }).length).toBeGreaterThan(900);
    expect(looks).toBeLessThan(4 * many.length);
  });
});
