import type { Experiment } from './data';

/** The one that a candidate is judged by: its trial, else what it ran last. */
export function mainExperiment(experiments: readonly Experiment[]): Experiment | undefined {
  return experiments.find((one) => one.role === 'trial') ?? experiments.at(-1);
}

/** The score on all search items; that of a mini-batch compares with nobody's. */
export function trialScore(experiments: readonly Experiment[]): number | null {
  return experiments.find((one) => one.role === 'trial')?.score ?? null;
}

export function heldOut(experiments: readonly Experiment[]): Experiment | undefined {
  return experiments.find((one) => one.role === 'held_out');
}

const ROLES: Record<Experiment['role'], string> = {
  trial: 'All search items',
  'mini-batch': 'Mini-batch',
  held_out: 'Held-out items',
};

export function roleWords(role: Experiment['role']): string {
  return ROLES[role];
}

/** What the run paid for this candidate's answers: item runs times the mean, where it is known. */
export function totalTokens(experiments: readonly Experiment[]): number | null {
  let total = 0;
  for (const one of experiments) {
    if (one.items === 0) continue;
    if (one.avg_tokens === null) return null;
    total += one.avg_tokens * one.items;
  }
  return Math.round(total);
}

/** Children and parents: those with a score of their own first, the best of them at the top. */
export function byScore<
  Kin extends { score: number | null; number: number; status: string | null },
>(kin: readonly Kin[]): Kin[] {
  const rank = (one: Kin) =>
    one.status === 'completed' && one.score !== null ? one.score : -Infinity;
  return [...kin].sort((one, other) => {
    const [first, second] = [rank(one), rank(other)];
    return first === second ? one.number - other.number : second - first;
  });
}

export interface Rationale {
  text: string;
  /** The optimizer's own name for what it did, such as "gepa: line". */
  by: string | null;
}

/** Optimizers end a rationale with a note of theirs in brackets; it reads better apart. */
export function splitRationale(rationale: string): Rationale {
  const found = /^(?<text>[\s\S]*?)\s*\[(?<who>[a-z_]+): (?<what>[\s\S]+)\]\s*$/.exec(rationale);
  const { text = rationale, who, what } = found?.groups ?? {};
  if (!who || !what) return { text: rationale, by: null };
  const list = /^\[.*\]$/s.test(what) ? [...what.matchAll(/"([^"]*)"/g)].map((one) => one[1]) : [];
  return { text, by: `${who}: ${list.length > 0 ? list.join(', ') : what}` };
}
