import type { Kind, Point } from '../points';

/** Which rows the table shows, and in which order. Kept in the address. */
export interface View {
  q: string;
  statuses: readonly string[];
  kind: KindChoice;
  low: number | null;
  high: number | null;
  sort: string;
}

export const KINDS = [
  { value: 'full', label: 'Trials' },
  { value: 'mini-batch', label: 'Mini-batches' },
  { value: 'all', label: 'Both' },
] as const;
export type KindChoice = (typeof KINDS)[number]['value'];

const FITS: Record<KindChoice, (kind: Kind) => boolean> = {
  full: (kind) => kind !== 'mini-batch',
  'mini-batch': (kind) => kind === 'mini-batch',
  all: () => true,
};

export function asKind(text: string): KindChoice {
  return KINDS.find((kind) => kind.value === text)?.value ?? 'full';
}

/** A number that somebody typed; null for none. */
export function asNumber(text: string): number | null {
  const value = text.trim() === '' ? NaN : Number(text);
  return Number.isFinite(value) ? value : null;
}

/** Rows that fit. The text is looked for in the rationale, the error and the number. */
export function filtered(points: readonly Point[], view: View): readonly Point[] {
  const text = view.q.trim().toLowerCase();
  const number = /^#?\d+$/.test(text) ? Number(text.replace('#', '')) : null;
  const statuses = new Set(view.statuses);
  const fits = FITS[view.kind];
  const found = points.filter((point) => {
    if (!fits(point.kind)) return false;
    if (statuses.size > 0 && !statuses.has(point.status)) return false;
    if (view.low !== null && (point.score === null || point.score < view.low)) return false;
    if (view.high !== null && (point.score === null || point.score > view.high)) return false;
    if (text === '') return true;
    return (
      point.number === number ||
      (point.rationale?.toLowerCase().includes(text) ?? false) ||
      (point.error?.toLowerCase().includes(text) ?? false)
    );
  });
  return found.length === points.length ? points : found;
}

type Sortable = number | string | null;

/** What rows are sorted by, for each column. */
export const SORT_VALUES: Record<string, (point: Point) => Sortable> = {
  number: (point) => point.number,
  kind: (point) => point.kind,
  status: (point) => point.status,
  score: (point) => point.score,
  change: (point) => point.score,
  interval: (point) =>
    point.ci_low === null || point.ci_high === null ? null : point.ci_high - point.ci_low,
  parents: (point) => point.parents[0] ?? null,
  passed: (point) => (point.items > 0 ? point.pass_rate : null),
  evaluations: (point) => point.evaluations,
  tokens: (point) => point.avg_tokens,
  latency: (point) => point.avg_latency_ms,
  cost: (point) => point.cost_usd,
  cost_so_far: (point) => point.cost_so_far_usd,
  model: (point) => point.model ?? null,
  step: (point) => point.step_index,
  created: (point) => point.created_at,
  finished: (point) => point.finished_at,
  rationale: (point) => point.error ?? point.rationale,
};

/** Sorted by a column; `-` before its name for downwards. What has no value comes last. */
export function sorted(points: readonly Point[], sort: string): readonly Point[] {
  const down = sort.startsWith('-');
  const value = SORT_VALUES[down ? sort.slice(1) : sort];
  if (!value) return points;
  // The values once, not at each of a hundred thousand comparisons.
  const keyed = points.map((point, index) => ({ point, index, key: value(point) }));
  const sign = down ? -1 : 1;
  keyed.sort((one, other) => {
    if (one.key === null || other.key === null) {
      if (one.key === other.key) return one.index - other.index;
      return one.key === null ? 1 : -1;
    }
    if (one.key === other.key) return one.index - other.index;
    return one.key < other.key ? -sign : sign;
  });
  return keyed.map(({ point }) => point);
}

/** The other way round on the second click, and as the run went on the third. */
export function nextSort(sort: string, column: string): string | null {
  if (sort === `-${column}`) return column;
  return sort === column ? null : `-${column}`;
}

/** At most two candidates are compared: a third takes the place of the first. */
export function picked(chosen: readonly string[], number: number): string[] {
  const text = String(number);
  if (chosen.includes(text)) return chosen.filter((one) => one !== text);
  return [...chosen, text].slice(-2);
}
