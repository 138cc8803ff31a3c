import type { Schemas } from '@/api/client';
import { change, count, interval, score } from './format';
import { counted } from './format';

export type Evidence = Schemas['Evidence'];

/** A chance as people write it: never "0.000". */
export function chance(value: number): string {
  if (value < 0.001) return 'p < 0.001';
  return `p = ${value.toFixed(value < 0.1 ? 3 : 2)}`;
}

export type Verdict = 'proven' | 'refuted' | 'open' | 'search_only';

export function verdictOf(evidence: Evidence): Verdict {
  if (evidence.refuted) return 'refuted';
  if (!evidence.held_out) return 'search_only';
  return evidence.proven ? 'proven' : 'open';
}

const VERDICTS: Record<Verdict, string> = {
  proven: 'Proven: the items leave no reasonable doubt that it is better.',
  refuted: 'Refuted: the items speak against it.',
  open: 'Not proven: the difference may be chance.',
  search_only: 'Not proven: these are the items that the search itself looked at.',
};

export function verdictWords(evidence: Evidence): string {
  return VERDICTS[verdictOf(evidence)];
}

/** "132", or "72 of 240" where the budget left room for a part of the held-out items. */
export function comparedItems(evidence: Pick<Evidence, 'items' | 'of_items'>): string {
  const all = evidence.of_items ?? 0;
  const part = all > (evidence.items ?? 0) ? ` of ${count(all)}` : '';
  return `${count(evidence.items)}${part}`;
}

/** "+0.180 on 132 held-out items (95% interval 0.112 to 0.246, p < 0.001)". */
export function evidenceWords(evidence: Evidence): string {
  const kind = evidence.held_out ? 'held-out items' : 'items of the search';
  const on = evidence.items === null ? kind : `${comparedItems(evidence)} ${kind}`;
  const range = interval(evidence.ci_low, evidence.ci_high);
  return `${change(evidence.delta)} on ${on} (95% interval ${range}, ${chance(evidence.p_value)})`;
}

/** "0.614 before, 0.807 now; 21 items fixed, 4 broken." */
export function evidenceDetail(evidence: Evidence): string {
  const scores =
    evidence.baseline_score === null || evidence.best_score === null
      ? ''
      : `${score(evidence.baseline_score)} for the baseline, ${score(evidence.best_score)} for this one; `;
  const items = evidence.fixed === 1 ? 'item' : 'items';
  const told = `${scores}${count(evidence.fixed)} ${items} fixed, ${count(evidence.broken)} broken.`;
  return evidence.missing ? `${told} ${missingWords(evidence.missing)}` : told;
}

/** "3 items are left out: an answer never came." */
export function missingWords(missing: number): string {
  const items = missing === 1 ? '1 item is' : `${counted(missing, 'item')} are`;
  return `${items} left out: an answer never came, for reasons outside the agent.`;
}
