import { change, count, counted, duration, interval, money, score } from '@/lib/format';
import { stopWords } from '@/screens/run/words';
import type { RunView } from '@/screens/run/view';

/** As many as stand side by side. */
export const MOST = 6;

/** Ids out of an address, each once. */
export function idsIn(text: string): string[] {
  return [...new Set(text.split(',').filter((id) => id !== ''))].slice(0, MOST);
}

export interface Measure {
  label: string;
  /** What it says about each run, in their order. */
  values: readonly string[];
  /** Which of them are the best, where that can be said. */
  best: readonly boolean[];
}

interface Row {
  label: string;
  say: (run: RunView) => string;
  /** Higher is better; null where it is not known. */
  rank?: (run: RunView) => number | null;
}

const ROWS: readonly Row[] = [
  { label: 'Agent', say: (run) => run.agent },
  { label: 'Suite', say: (run) => run.suite },
  {
    label: 'Optimizer',
    say: (run) => `${run.optimizer}${run.by_client ? '' : `, seed ${run.seed}`}`,
  },
  { label: 'Status', say: (run) => run.state },
  { label: 'Why it ended', say: (run) => stopWords(run) ?? '–' },
  { label: 'Baseline, in the search', say: (run) => scored(run.baseline) },
  {
    label: 'Best, in the search',
    say: (run) => scored(run.best),
    rank: (run) => run.best?.score ?? null,
  },
  {
    label: 'Best, on held-out items',
    say: heldOut,
    rank: (run) => (run.evidence?.held_out ? run.evidence.best_score : null),
  },
  {
    label: 'Against the baseline there',
    say: gained,
    rank: (run) => (run.evidence?.held_out ? run.evidence.delta : null),
  },
  { label: 'Trials', say: (run) => count(run.trials) },
  { label: 'Item runs', say: (run) => count(run.budget.used.evaluations) },
  { label: 'Tokens', say: (run) => count(run.tokens) },
  { label: 'Spent', say: (run) => (run.cost_usd === null ? 'unknown' : money(run.cost_usd)) },
  { label: 'Prompt tokens of the best', say: (run) => count(run.best?.prompt_tokens) },
  { label: 'Duration', say: (run) => duration(run.duration_seconds) },
];

/** Runs side by side, a row a measure. Scores of other suites are never called better. */
export function measuresOf(runs: readonly RunView[]): Measure[] {
  const alike = new Set(runs.map((run) => run.suite)).size === 1;
  return ROWS.map(({ label, say, rank }) => {
    const ranks = runs.map((run) => (rank && alike ? rank(run) : null));
    const known = ranks.filter((one) => one !== null);
    const top = known.length > 1 ? Math.max(...known) : null;
    const differs = known.some((one) => one !== top);
    return {
      label,
      values: runs.map(say),
      best: ranks.map((one) => top !== null && differs && one === top),
    };
  });
}

function scored(one: RunView['best']): string {
  if (one === null) return '–';
  const range = interval(one.ci_low, one.ci_high);
  return range === '' ? score(one.score) : `${score(one.score)} (${range})`;
}

function heldOut(run: RunView): string {
  const evidence = run.evidence;
  if (!evidence?.held_out) return '–';
  return `${score(evidence.best_score)} on ${counted(evidence.items, 'item')}`;
}

function gained(run: RunView): string {
  const evidence = run.evidence;
  if (!evidence?.held_out) return '–';
  if (run.best?.candidate_id === run.baseline?.candidate_id) return 'nothing better was found';
  const word = evidence.proven ? ', proven' : evidence.refuted ? ', worse' : ', not proven';
  return `${change(evidence.delta)} (${interval(evidence.ci_low, evidence.ci_high)})${word}`;
}
