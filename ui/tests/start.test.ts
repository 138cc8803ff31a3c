import { describe, expect, it } from 'vitest';
import { exampleRows } from '@/screens/start/example';
import { stepsOf } from '@/screens/start/steps';

const nothing = { datasets: 0, evaluations: 0, runs: 0, finished: null };

describe('the first steps', () => {
  it('name the next one, and what is done', () => {
    const states = (agents: string[], suites: string[], progress = nothing) =>
      stepsOf({ agents, suites }, progress).map((step) => step.state[0]);

    expect(states([], [])).toEqual(['n', 'l', 'l', 'l', 'l', 'l']);
    expect(states(['a'], [])).toEqual(['d', 'n', 'l', 'l', 'l', 'l']);
    expect(states(['a'], ['s'], { ...nothing, evaluations: 1 })).toEqual([
      ...['d', 'd', 'd', 'd'],
      ...['n', 'l'],
    ]);
  });

  it('lead to the run whose winner can be promoted', () => {
    const steps = stepsOf({ agents: ['a'], suites: ['s'] }, { ...nothing, finished: 'run-1' });

    expect(steps.at(-1)?.to).toBe('/runs/run-1');
  });

  it('have an example with items of every split and label', () => {
    const rows = exampleRows()
      .split('\n')
      .map((line) => JSON.parse(line) as { review: string; label: string; split: string });
    const kinds = new Set(rows.map((row) => `${row.split} ${row.label}`));

    expect(kinds.size).toBe(6);
    expect(new Set(rows.map((row) => row.review)).size).toBe(rows.length);
  });
});
