export type ItemChange = 'improved' | 'regressed' | 'unchanged';
export type ItemFilter = 'all' | 'changed' | 'improved' | 'regressed' | 'unchanged';

const FILTERS: readonly ItemFilter[] = ['all', 'changed', 'improved', 'regressed', 'unchanged'];

/** What the address says; anything else is what most people want to see. */
export function filterOf(value: string): ItemFilter {
  return FILTERS.find((one) => one === value) ?? 'all';
}

/** The server's changes that a filter lets through; none is all. */
export function changesOf(filter: ItemFilter): ItemChange[] {
  if (filter === 'all') return [];
  return filter === 'changed' ? ['improved', 'regressed'] : [filter];
}

export interface Counts {
  improved: number;
  regressed: number;
  unchanged: number;
}

/** The filters as buttons, each with how many items it shows. */
export function filterOptions(counts: Counts): { value: ItemFilter; label: string }[] {
  const { improved, regressed, unchanged } = counts;
  const figure = (value: number) => value.toLocaleString('en-US');
  return [
    { value: 'all', label: `All ${figure(improved + regressed + unchanged)}` },
    { value: 'changed', label: `Changed ${figure(improved + regressed)}` },
    { value: 'improved', label: `Improved ${figure(improved)}` },
    { value: 'regressed', label: `Regressed ${figure(regressed)}` },
    { value: 'unchanged', label: `Unchanged ${figure(unchanged)}` },
  ];
}

/** How a cell of the strip looks: what changed, and for what stayed whether it passes. */
export type CellKind = 'improved' | 'regressed' | 'passes' | 'fails';

export function cellKind(item: { change: ItemChange; after: { passed: boolean } }): CellKind {
  if (item.change !== 'unchanged') return item.change;
  return item.after.passed ? 'passes' : 'fails';
}

export const CELL_WORDS: Record<CellKind, string> = {
  improved: 'improved',
  regressed: 'regressed',
  passes: 'unchanged, passes',
  fails: 'unchanged, fails',
};

/** A sign beside the colour. */
export const CELL_SIGNS: Record<CellKind, string> = {
  improved: '↑',
  regressed: '↓',
  passes: '·',
  fails: '×',
};

/** The place in a grid that an arrow key leads to. */
export function moveInGrid(at: number, key: string, count: number, columns: number): number | null {
  const steps: Record<string, number> = {
    ArrowRight: 1,
    ArrowLeft: -1,
    ArrowDown: columns,
    ArrowUp: -columns,
    Home: -at,
    End: count - 1 - at,
  };
  const step = steps[key];
  if (step === undefined || count === 0) return null;
  const to = at + step;
  return to < 0 || to >= count ? at : to;
}
