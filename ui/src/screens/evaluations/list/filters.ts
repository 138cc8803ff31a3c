import type { Schemas } from '@/api/client';
import type { Facet, Menu } from '@/components/list/FilterBar';
import type { EvaluationLine } from '../result';

export type EvaluationStatus = Schemas['ExperimentStatus'];
export type RefinedFilter = '' | 'active' | 'inactive' | 'none';

export interface ListFilters {
  q: string;
  statuses: EvaluationStatus[];
  agent: string;
  suite: string;
  refined: RefinedFilter;
}

export const STATUSES: readonly EvaluationStatus[] = [
  'running',
  'pending',
  'completed',
  'failed',
  'cancelled',
  'timeout',
];
const REFINED: readonly RefinedFilter[] = ['active', 'inactive', 'none'];
const REFINED_WORDS: Record<Exclude<RefinedFilter, ''>, string> = {
  active: 'Refined',
  inactive: 'Inactive',
  none: 'Without refinement',
};
export const CLEARED = { q: null, status: null, agent: null, suite: null, refined: null };

interface Address {
  get(name: string): string;
  getAll(name: string): string[];
}

/** What an address asks for; values that no list knows are left out. */
export function listFilters(address: Address): ListFilters {
  return {
    q: address.get('q'),
    statuses: STATUSES.filter((status) => address.getAll('status').includes(status)),
    agent: address.get('agent'),
    suite: address.get('suite'),
    refined: REFINED.find((one) => one === address.get('refined')) ?? '',
  };
}

export function isFiltered({ q, statuses, agent, suite, refined }: ListFilters): boolean {
  return [q.trim(), agent, suite, refined].some((text) => text !== '') || statuses.length > 0;
}

export function refinedKind(line: Pick<EvaluationLine, 'refine'>): Exclude<RefinedFilter, ''> {
  if (line.refine === null) return 'none';
  return line.refine.active ? 'active' : 'inactive';
}

/** Part of a name of anything in it, or the beginning of its id. */
export function matches(line: EvaluationLine, filters: ListFilters): boolean {
  const { statuses, agent, suite, refined } = filters;
  if (statuses.length > 0 && !statuses.includes(line.status)) return false;
  if (agent !== '' && line.agent !== agent) return false;
  if (suite !== '' && line.suite !== suite) return false;
  if (refined !== '' && refinedKind(line) !== refined) return false;
  const sought = filters.q.trim().toLowerCase();
  if (sought === '') return true;
  const names = [line.name, line.agent, line.suite, line.refine?.model ?? ''];
  return (
    names.some((name) => name.toLowerCase().includes(sought)) ||
    line.experiment_id.toLowerCase().startsWith(sought)
  );
}

/** How often each value occurs, by name. */
export function facets<Value extends string>(values: readonly Value[]): Facet<Value>[] {
  const counts = new Map<Value, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((one, other) => one.value.localeCompare(other.value));
}

export function menusOf(filters: ListFilters, lines: readonly EvaluationLine[]): Menu[] {
  return [
    {
      key: 'agent',
      label: 'Agent',
      any: 'Any agent',
      value: filters.agent,
      facets: facets(lines.map((line) => line.agent)),
    },
    {
      key: 'suite',
      label: 'Suite',
      any: 'Any suite',
      value: filters.suite,
      facets: facets(lines.map((line) => line.suite)),
    },
    {
      key: 'refined',
      label: 'Refinement',
      any: 'Refined or not',
      value: filters.refined,
      facets: facets(lines.map(refinedKind)),
      words: REFINED_WORDS,
    },
  ];
}

/** Which list the reader came from, so that the way back leads to the same one. */
let lastSearch = '';

export function rememberList(search: string): void {
  const kept = new URLSearchParams(search);
  kept.delete('new');
  kept.delete('from');
  lastSearch = kept.toString();
}

export function listPath(): string {
  return lastSearch === '' ? '/evaluations' : `/evaluations?${lastSearch}`;
}
