import { describe, expect, it } from 'vitest';
import {
  bestOf,
  direction,
  filtersOf,
  isFiltered,
  nextOrder,
  queryOf,
  type RunLine,
} from '@/screens/runs/filters';
import { followed, patched } from '@/screens/runs/useRuns';
import { sparkPath } from '@/screens/runs/Spark';
import type { RunEvent } from '@/live/useStream';

const address = (text: string) => {
  const values = new URLSearchParams(text);
  return {
    get: (name: string) => values.get(name) ?? '',
    getAll: (name: string) => values.getAll(name),
  };
};

function line(changes: Partial<RunLine> = {}): RunLine {
  return {
    optimization_id: 'a',
    name: 'A run',
    status: 'running',
    state: 'running',
    stop_reason: null,
    agent: 'tickets',
    suite: 'support',
    optimizer: 'edits',
    seed: 0,
    baseline_score: 0.5,
    best_score: 0.5,
    best_candidate_id: 'a-0',
    trials: 3,
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
    owned: true,
    change: null,
    calls: 0,
    tokens: 0,
    cost_usd: 0,
    started_at: null,
    ended_at: null,
    duration_seconds: null,
    spark: [],
    ...changes,
  };
}

const event = (type: RunEvent['type'], payload: Record<string, unknown>, id = 'a'): RunEvent => ({
  optimization_id: id,
  sequence: 4,
  type,
  created_at: '2026-01-01T00:00:01Z',
  payload,
});

describe('filters in the address', () => {
  it('are read, and what no list knows is left out', () => {
    const filters = filtersOf(address('q=tick&status=failed&status=odd&sort=-best_score&agent=x'));

    expect(filters).toMatchObject({ q: 'tick', statuses: ['failed'], sort: '-best_score' });
    expect(queryOf(filters)).toEqual({
      q: 'tick',
      status: ['failed'],
      sort: '-best_score',
      agent: 'x',
    });
    expect(isFiltered(filters)).toBe(true);
  });

  it('are empty by themselves, with the newest first', () => {
    const filters = filtersOf(address('sort=colour'));

    expect(queryOf(filters)).toEqual({ sort: '-created_at' });
    expect(isFiltered(filters)).toBe(false);
  });

  it('sort names upwards and numbers downwards first', () => {
    expect(nextOrder('-created_at', 'name')).toBe('name');
    expect(nextOrder('name', 'name')).toBe('-name');
    expect(nextOrder('name', 'best_score')).toBe('-best_score');
    expect(nextOrder('-best_score', 'best_score')).toBe('best_score');
    expect(direction('-best_score', 'best_score')).toBe('descending');
    expect(direction('-best_score', 'name')).toBe('none');
  });
});

describe('lines that live', () => {
  it('follow what runs, in an order of their own, and at most a hundred', () => {
    const many = Array.from({ length: 120 }, (_, index) =>
      line({ optimization_id: `r${String(119 - index).padStart(3, '0')}` }),
    );

    expect(
      followed([line({ optimization_id: 'z' }), line({ status: 'completed', owned: false })]),
    ).toEqual(['z']);
    expect(followed(many)).toHaveLength(100);
    expect(followed(many)[0]).toBe('r020');
  });

  it('change with their own events only', () => {
    const before = line();

    expect(patched(before, event('run_finished', { status: 'completed' }, 'b'))).toBe(before);
    expect(patched(before, event('run_finished', { status: 'completed' })).status).toBe(
      'completed',
    );
  });

  it('show a new best at once, with the change against the baseline', () => {
    const after = patched(
      line(),
      event('best_candidate_changed', { candidate_id: 'a-3', score: 0.75 }),
    );

    expect(after).toMatchObject({ best_score: 0.75, best_candidate_id: 'a-3' });
    expect(after.change).toMatchObject({ delta: 0.25, held_out: false });
  });
});

describe('the spark line', () => {
  it('is a step line from the baseline to the best', () => {
    const { line: path, end } = sparkPath(
      [
        { evaluations: 100, score: 0.5 },
        { evaluations: 200, score: 0.75 },
        { evaluations: 300, score: 1 },
      ],
      108,
      28,
    );

    expect(path).toBe('M4 24H54V14H104V4');
    expect(end).toEqual({ x: 104, y: 4 });
  });

  it('runs through the middle where nothing rose', () => {
    expect(sparkPath([{ evaluations: 1, score: 0.5 }], 108, 28).end).toEqual({ x: 4, y: 14 });
  });
});

describe('the best score', () => {
  const change = { delta: 0.571, ci_low: null, ci_high: null, p_value: null };

  it('is of the items that its change is of', () => {
    const held = { ...change, held_out: true, items: 21, best_score: 0.952 };
    expect(bestOf(line({ best_score: 0.964, change: held }))).toEqual({
      value: 0.952,
      where: 'on 21 held-out items; 0.964 in the search',
    });
    const searched = { ...change, held_out: false, items: null };
    expect(bestOf(line({ best_score: 0.964, change: searched })).value).toBe(0.964);
  });
});
