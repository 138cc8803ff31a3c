import { describe, expect, it } from 'vitest';
import type { RunView } from '@/screens/run/view';
import { idsIn, measuresOf, MOST } from '@/screens/runs/compare/measures';

function run(name: string, score: number, held: number | null, suite = 'tickets'): RunView {
  const candidate = { score, ci_low: score - 0.1, ci_high: score + 0.1, prompt_tokens: 12 };
  return {
    ...{ name, suite, agent: 'router', optimizer: 'edits', seed: 1, state: 'completed' },
    ...{ by_client: false, stop_reason: null, trials: 4, tokens: 900, cost_usd: null },
    duration_seconds: 61,
    baseline: { ...candidate, candidate_id: 'a-0', score: 0.5 },
    best: { ...candidate, candidate_id: 'a-1' },
    budget: { used: { evaluations: 80 } },
    evidence: held === null ? null : evidence(held),
  } as unknown as RunView;
}

function evidence(best: number) {
  const at = { ci_low: 0.1, ci_high: 0.3, proven: true, refuted: false };
  return { held_out: true, items: 20, best_score: best, delta: best - 0.5, ...at };
}

const row = (runs: RunView[], label: string) =>
  measuresOf(runs).find((measure) => measure.label === label);

describe('runs side by side', () => {
  it('say which one is best, on items of one kind each', () => {
    const runs = [run('a', 0.9, 0.7), run('b', 0.8, 0.75), run('c', 0.85, null)];

    expect(row(runs, 'Best, in the search')?.best).toEqual([true, false, false]);
    expect(row(runs, 'Best, on held-out items')).toMatchObject({
      values: ['0.700 on 20 items', '0.750 on 20 items', '–'],
      best: [false, true, false],
    });
    expect(row(runs, 'Against the baseline there')?.values[0]).toContain('proven');
    expect(row(runs, 'Spent')?.values[0]).toBe('unknown');
  });

  it('are not ranked where they ran on other suites, or are equal', () => {
    const others = [run('a', 0.9, null), run('b', 0.8, null, 'mails')];
    const equal = [run('a', 0.9, null), run('b', 0.9, null)];

    for (const runs of [others, equal])
      expect(row(runs, 'Best, in the search')?.best).toEqual([false, false]);
  });

  it('are read from an address, each once and only as many as have room', () => {
    expect(idsIn('a,b,,a')).toEqual(['a', 'b']);
    expect(idsIn('1,2,3,4,5,6,7,8')).toHaveLength(MOST);
  });
});
