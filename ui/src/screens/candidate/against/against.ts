import type { CandidateRef } from '../data';

/** With what a candidate is compared. */
export type Against =
  | { kind: 'candidate'; id: string; as: 'parent' | 'baseline' | 'other' }
  | { kind: 'active' }
  | { kind: 'none' };

export interface Kin {
  candidate_id: string;
  baseline: boolean;
  parents: readonly Pick<CandidateRef, 'candidate_id'>[];
}

/** What the address says (`parent`, `baseline`, `active` or an id), else the parent, else the baseline. */
export function againstOf(value: string, candidate: Kin, baselineId: string | null): Against {
  const parent = candidate.parents[0]?.candidate_id ?? null;
  const baseline = candidate.baseline ? null : baselineId;
  if (value === 'active') return { kind: 'active' };
  if (value === 'baseline' && baseline) return { kind: 'candidate', id: baseline, as: 'baseline' };
  if (
    value !== '' &&
    value !== 'parent' &&
    value !== 'baseline' &&
    value !== candidate.candidate_id
  )
    return { kind: 'candidate', id: value, as: as(value, candidate, baselineId) };
  if (parent) return { kind: 'candidate', id: parent, as: 'parent' };
  if (baseline) return { kind: 'candidate', id: baseline, as: 'baseline' };
  return { kind: 'none' };
}

function as(
  id: string,
  candidate: Kin,
  baselineId: string | null,
): 'parent' | 'baseline' | 'other' {
  if (candidate.parents.some((one) => one.candidate_id === id)) return 'parent';
  return id === baselineId ? 'baseline' : 'other';
}

export interface Choice {
  candidate_id: string;
  number: number;
  score: number | null;
  status: string | null;
  rationale: string | null;
  /** It never ran on all items, so that its score means little. */
  partial: boolean;
}

/** Those with a whole evaluation first, the best at the top. */
export function inOrder(choices: readonly Choice[]): Choice[] {
  const rank = (one: Choice) => (one.partial ? -2 : (one.score ?? -1));
  return [...choices].sort((one, other) => rank(other) - rank(one) || one.number - other.number);
}

/** Candidates by number or by words of their rationale; "12" finds 12 before 120. */
export function findChoices(choices: readonly Choice[], sought: string): Choice[] {
  const wanted = sought
    .trim()
    .toLowerCase()
    .replace(/^(candidate|#)\s*/, '');
  if (wanted === '') return [...choices];
  const found = choices.filter(
    (one) =>
      String(one.number).startsWith(wanted) ||
      (one.rationale ?? '').toLowerCase().includes(wanted) ||
      one.candidate_id.toLowerCase().startsWith(wanted),
  );
  return found.sort((one, other) => exactness(one, wanted) - exactness(other, wanted));
}

function exactness(choice: Choice, wanted: string): number {
  if (String(choice.number) === wanted) return 0;
  return String(choice.number).startsWith(wanted) ? 1 : 2;
}

const ORIGINS: Record<string, string> = {
  baseline: 'The configuration that the run began with.',
  edit: 'An edit of its parent.',
  merge: 'A merge of its parents: parts of each.',
  fresh: 'Made from nothing: it has no parent.',
};

/** What made it, in a sentence. */
export function originSentence(origin: string): string {
  return ORIGINS[origin] ?? origin;
}
