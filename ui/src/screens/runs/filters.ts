import { counted, score } from '@/lib/format';
import type { Schemas } from '@/api/client';

export type RunLine = Schemas['OptimizationLine'];
export type RunStatus = Schemas['OptimizationStatus'];
export type RunOrder = Schemas['OptimizationOrder'];
export type SortColumn = 'name' | 'best_score' | 'created_at' | 'updated_at';

export interface RunFilters {
  q: string;
  statuses: RunStatus[];
  agent: string;
  suite: string;
  optimizer: string;
  sort: RunOrder;
}

export const STATUSES: readonly RunStatus[] = [
  'running',
  'completed',
  'failed',
  'cancelled',
  'initialized',
];
export const DEFAULT_ORDER: RunOrder = '-created_at';
export const CLEARED = { q: null, status: null, agent: null, optimizer: null, suite: null };
const COLUMNS: readonly SortColumn[] = ['name', 'best_score', 'created_at', 'updated_at'];

interface Address {
  get(name: string): string;
  getAll(name: string): string[];
}

/** What an address asks for; values that no list knows are left out. */
export function filtersOf(address: Address): RunFilters {
  return {
    q: address.get('q'),
    statuses: STATUSES.filter((status) => address.getAll('status').includes(status)),
    agent: address.get('agent'),
    suite: address.get('suite'),
    optimizer: address.get('optimizer'),
    sort: orderOf(address.get('sort')),
  };
}

function orderOf(text: string): RunOrder {
  return COLUMNS.some((column) => text === column || text === `-${column}`)
    ? (text as RunOrder)
    : DEFAULT_ORDER;
}

export function isFiltered(filters: RunFilters): boolean {
  const { q, statuses, agent, suite, optimizer } = filters;
  return [q, agent, suite, optimizer].some((text) => text !== '') || statuses.length > 0;
}

/** As the server takes it. */
export function queryOf(filters: RunFilters) {
  return {
    sort: filters.sort,
    ...(filters.q && { q: filters.q }),
    ...(filters.statuses.length > 0 && { status: filters.statuses }),
    ...(filters.agent && { agent: filters.agent }),
    ...(filters.suite && { suite: filters.suite }),
    ...(filters.optimizer && { optimizer: filters.optimizer }),
  };
}

/** Names begin upwards, numbers and times downwards; a second click turns them round. */
export function nextOrder(current: RunOrder, column: SortColumn): RunOrder {
  const first: RunOrder = column === 'name' ? 'name' : `-${column}`;
  const second: RunOrder = column === 'name' ? '-name' : column;
  return current === first ? second : first;
}

export function direction(
  current: RunOrder,
  column: SortColumn,
): 'ascending' | 'descending' | 'none' {
  if (current === column) return 'ascending';
  return current === `-${column}` ? 'descending' : 'none';
}

/** The best score, of the items that its change is of: one of the search beside a change on others fits neither. */
export function bestOf(line: RunLine): { value: number | null; where: string } {
  const held = line.change?.held_out ? line.change.best_score : null;
  if (held === null || held === undefined)
    return { value: line.best_score, where: 'on the items of the search' };
  const items = counted(line.change?.items, 'held-out item');
  return { value: held, where: `on ${items}; ${score(line.best_score)} in the search` };
}
