import { nearestBeside, type Way } from '@/components/graph/keys';
import type { LayoutRequest } from '@/components/graph/layout';
import { useLayout, type Placed } from '@/components/graph/useLayout';
import type { History } from './history';

export const NODE = { width: 128, height: 134 } as const;

export type PlacedHistory = Placed<History>;

/** Where each commit stands. */
export function usePlaces(history: History): PlacedHistory | null {
  return useLayout(history, requestOf);
}

/** The best of what was made from one commit stands above the others: what comes last is on top. */
export function requestOf(id: number, history: History): LayoutRequest {
  const scoreOf = (one: string) => history.commits.get(one)?.score ?? -1;
  const worstFirst = [...history.commits.keys()].sort(
    (one, other) => scoreOf(one) - scoreOf(other),
  );
  const parents = new Map(history.edges.map(({ from, to }) => [to, from]));
  return {
    id,
    nodes: worstFirst.map((one) => ({ id: one, ...NODE })),
    edges: worstFirst.flatMap((to) => {
      const from = parents.get(to);
      return from === undefined ? [] : [{ from, to, lit: false, merged: false }];
    }),
  };
}

/**
 * Where an arrow leads: left to the parent, right to the first child, up and down to the nearest
 * of about the same generation. From nowhere, to the best.
 */
export function nextCommit(
  { graph: history, places }: PlacedHistory,
  from: string | null,
  way: Way,
): string | null {
  if (from === null || !places[from]) return history.best ?? [...history.commits.keys()][0] ?? null;
  if (way === 'left') return history.edges.find((edge) => edge.to === from)?.from ?? from;
  if (way === 'right') return history.edges.find((edge) => edge.from === from)?.to ?? from;
  return nearestBeside(places, from, way, Object.keys(places));
}
