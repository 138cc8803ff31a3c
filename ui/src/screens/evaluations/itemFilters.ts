import { outputText } from '../candidate/items/answers';
import { jsonText } from '@/lib/configurations';
import type { EvaluationResult, ItemRun, Outcome } from './result';

export type ItemFilter =
  | 'all'
  | 'failing'
  | 'refined'
  | 'fixed'
  | 'improved'
  | 'unchanged'
  | 'worsened'
  | 'limit';

const FILTERS: readonly ItemFilter[] = [
  'all',
  'failing',
  'refined',
  'fixed',
  'improved',
  'unchanged',
  'worsened',
  'limit',
];

/** What the address says; anything else is all. */
export function itemFilter(value: string): ItemFilter {
  return FILTERS.find((one) => one === value) ?? 'all';
}

/** As the server takes it. */
export function itemQuery(filter: ItemFilter): {
  failing?: boolean;
  outcome?: Exclude<Outcome, 'not_refined'> | 'refined';
  ended?: 'limit';
} {
  if (filter === 'all') return {};
  if (filter === 'failing') return { failing: true };
  if (filter === 'limit') return { ended: 'limit' };
  return { outcome: filter };
}

export interface FilterOption {
  value: ItemFilter;
  label: string;
}

const ALWAYS: readonly ItemFilter[] = ['all', 'failing'];
const REFINED: readonly ItemFilter[] = ['fixed', 'improved', 'unchanged', 'worsened', 'limit'];
const WORDS: Record<ItemFilter, string> = {
  all: 'All',
  failing: 'Failing',
  refined: 'Refined',
  fixed: 'Fixed',
  improved: 'Improved',
  unchanged: 'Unchanged',
  worsened: 'Worsened',
  limit: 'Hit the limit',
};

export function filterTotal(result: EvaluationResult, filter: ItemFilter): number {
  const refinement = result.refinement;
  if (filter === 'all') return result.items;
  if (filter === 'failing') return result.failed;
  if (filter === 'limit') return refinement?.ended.limit ?? 0;
  return refinement?.[filter] ?? 0;
}

/** The filters as buttons with how many each shows; those of refinement only where there is any. */
export function filterOptions(result: EvaluationResult, chosen: ItemFilter): FilterOption[] {
  const offered = [...ALWAYS, ...(result.refinement?.active ? REFINED : [])];
  if (!offered.includes(chosen)) offered.push(chosen);
  return offered.map((value) => ({
    value,
    label: `${WORDS[value]} ${filterTotal(result, value).toLocaleString('en-US')}`,
  }));
}

const SHORT = 140;

/** Text on one line. */
export function oneLine(text: string, most = SHORT): string {
  const flat = text.replace(/\s+/g, ' ').trim();
  return flat.length > most ? `${flat.slice(0, most - 1)}…` : flat;
}

/** The beginning of a row, without the field that is its id. */
export function inputPreview(run: Pick<ItemRun, 'input' | 'item_id'>): string {
  const values = Object.entries(run.input ?? {})
    .filter(([name, value]) => !(name === 'id' && value === run.item_id))
    .map(([, value]) => jsonText(value));
  return oneLine(values.join(' · '));
}

/** Whether an item holds the text: in its id, row, outputs of any round, reasons or error. */
export function holds(run: ItemRun, sought: string): boolean {
  const text = sought.trim().toLowerCase();
  if (text === '') return true;
  const parts = [
    run.item_id,
    ...Object.values(run.input ?? {}).map(jsonText),
    outputText(run.output),
    ...run.rounds.flatMap((one) => [outputText(one.output), one.reason]),
    ...run.scores.map((one) => one.reason ?? ''),
    ...Object.values(run.error ?? {}),
  ];
  return parts.some((part) => part.toLowerCase().includes(text));
}

/** The page of one run of an item; the list's filters go along, so that the way back keeps them. */
export function itemPath(
  evaluation: string,
  run: Pick<ItemRun, 'item_id' | 'repeat'>,
  search: string,
): string {
  const kept = new URLSearchParams();
  const given = new URLSearchParams(search);
  for (const name of ['filter', 'q', 'view']) {
    const value = given.get(name);
    if (value) kept.set(name, value);
  }
  if (run.repeat > 0) kept.set('repeat', String(run.repeat));
  const text = kept.toString();
  return `/evaluations/${evaluation}/items/${encodeURIComponent(run.item_id)}${text && `?${text}`}`;
}

export function evaluationPath(evaluation: string, search: string): string {
  const given = new URLSearchParams(search);
  const kept = new URLSearchParams();
  for (const name of ['filter', 'q']) {
    const value = given.get(name);
    if (value) kept.set(name, value);
  }
  const text = kept.toString();
  return `/evaluations/${evaluation}${text && `?${text}`}`;
}

/** An id as it stands in the address: the router has decoded all but slashes and their like. */
export function decodedId(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
