import type { Schemas } from '@/api/client';

export type EvaluationView = Schemas['EvaluationView'];
export type EvaluationLine = Schemas['EvaluationLine'];
export type ItemRun = Schemas['ItemView'];
export type RoundView = Schemas['RoundView'];
export type RefineSettings = Schemas['RefineView'];
export type Usage = Schemas['Usage'];
type Interval = [number, number];

/** The mean over all outputs at a round; one that ended earlier keeps its last score. */
export interface RoundMean {
  round: number;
  outputs: number;
  score: number;
  interval: Interval;
}

export interface Refinement extends RefineSettings {
  outputs: number;
  refined: number;
  rounds: number;
  fixed: number;
  improved: number;
  unchanged: number;
  worsened: number;
  ended: Record<string, number>;
  by_round: RoundMean[];
  first_score: number | null;
  latest_score: number | null;
  best_score: number | null;
  usage: Usage;
  cost_per_fixed_usd: number | null;
}

/** The document that `burnish eval --json` prints, as far as it is shown. */
export interface EvaluationResult {
  /** Null where no run was judged: nothing was measured. */
  score: number | null;
  score_interval: Interval | null;
  pass_rate: number | null;
  pass_interval: Interval | null;
  items: number;
  failed: number;
  errors: number;
  cached: number;
  usage: Usage & { by_purpose?: Record<string, Usage> };
  avg_latency_ms: number | null;
  warnings: string[];
  refinement: Refinement | null;
}

/** OpenAPI knows the document as any object; None before the first item. */
export function resultOf(view: Pick<EvaluationView, 'result'> | undefined) {
  return (view?.result ?? null) as EvaluationResult | null;
}

export function isLive(status: string | undefined): boolean {
  return status === 'pending' || status === 'running';
}

export type EvaluationAction = 'cancel' | 'resume';

/** What can be done with one. A trial is cancelled and resumed with its run. */
export function actionsOf(
  view: Pick<EvaluationView, 'status' | 'optimization_id'>,
): EvaluationAction[] {
  if (view.optimization_id !== null) return [];
  if (isLive(view.status)) return ['cancel'];
  return view.status === 'completed' ? [] : ['resume'];
}

/** What failed as a whole, in the server's words. */
export function failureOf(view: EvaluationView): { message: string; fix: string } | null {
  if (!view.error) return null;
  const text = (name: string) => {
    const value = view.error?.[name];
    return typeof value === 'string' ? value : '';
  };
  return { message: text('message') || 'The evaluation failed.', fix: text('fix') };
}

export const OUTCOMES = ['fixed', 'improved', 'unchanged', 'worsened'] as const;
export type Outcome = (typeof OUTCOMES)[number] | 'not_refined';

export const OUTCOME_WORDS: Record<Outcome, string> = {
  fixed: 'fixed',
  improved: 'improved',
  unchanged: 'unchanged',
  worsened: 'worsened',
  not_refined: 'not refined',
};

/** A sign beside the colour. */
export const OUTCOME_SIGNS: Record<Outcome, string> = {
  fixed: '✓',
  improved: '↑',
  unchanged: '=',
  worsened: '↓',
  not_refined: '·',
};

export const OUTCOME_TONES: Record<Outcome, string> = {
  fixed: 'good',
  improved: 'info',
  unchanged: '',
  worsened: 'bad',
  not_refined: '',
};

export function outcomeHelp(outcome: Outcome, threshold: number | null): string {
  const target = threshold === null ? 'a perfect score' : `the threshold ${threshold}`;
  return {
    fixed: `began below ${target} and reached it`,
    improved: `scores more than at first, but less than ${target}`,
    unchanged: 'scores as much as at first',
    worsened: 'scores less than at first',
    not_refined: 'was good enough at once, or could not be refined',
  }[outcome];
}

const END_WORDS: Record<string, string> = {
  threshold: 'reached the threshold',
  limit: 'hit the limit',
  perfect: 'scored perfectly',
  not_applicable: 'could not be refined',
  judge_unavailable: 'the judge was unavailable',
  evaluation_failed: 'no usable verdict',
  optimizer_unavailable: 'the optimizer was unavailable',
  budget: 'the budget was spent',
};

export function endWords(end: string): string {
  return END_WORDS[end] ?? end.replace(/_/g, ' ');
}

/** Causes of ending, the most frequent first. */
export function endsOf(refinement: Pick<Refinement, 'ended'>): { end: string; outputs: number }[] {
  return Object.entries(refinement.ended)
    .map(([end, outputs]) => ({ end, outputs }))
    .filter((one) => one.outputs > 0)
    .sort((one, other) => other.outputs - one.outputs || one.end.localeCompare(other.end));
}

const PURPOSES: Record<string, string> = {
  agent: 'agent',
  judge: 'judge',
  user: 'simulated user',
  refine: 'optimizer',
  optimizer: 'optimizer',
};

/** Who spent how much, the dearest first. */
export function spending(usage: EvaluationResult['usage']): { who: string; usage: Usage }[] {
  return Object.entries(usage.by_purpose ?? {})
    .map(([purpose, spent]) => ({ who: PURPOSES[purpose] ?? purpose, usage: spent }))
    .filter((one) => one.usage.calls > 0)
    .sort((one, other) => (other.usage.cost_usd ?? 0) - (one.usage.cost_usd ?? 0));
}

/** Less than a cent, to three figures: single outputs cost that little. */
export function smallMoney(value: number): string {
  return `$${Number(value.toPrecision(3))}`;
}
