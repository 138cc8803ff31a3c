import { nearestBeside, type Way } from '@/components/graph/keys';
import type { LayoutRequest } from '@/components/graph/layout';
import { useLayout, type Placed } from '@/components/graph/useLayout';
import type { Shown } from './family';

export const SIZES = {
  candidate: { width: 148, height: 44 },
  bundle: { width: 74, height: 32 },
} as const;

export type Arranged = Placed<Shown>;

/** Where each candidate stands; busy while there is a newer lineage than what is arranged. */
export function useArranged(shown: Shown): { arranged: Arranged | null; busy: boolean } {
  const arranged = useLayout(shown, requestOf);
  return { arranged, busy: arranged?.graph !== shown };
}

function requestOf(id: number, shown: Shown): LayoutRequest {
  return {
    id,
    nodes: shown.nodes.map((node) => ({ id: node.id, ...SIZES[node.kind] })),
    edges: shown.edges.map(({ from, to, lit, merged }) => ({ from, to, lit, merged })),
  };
}

/**
 * Sideways along the lineage: left to a parent, right to the nearest child. Up and down to the
 * nearest node of about the same generation. Answers where one stands then.
 */
export function move({ graph: shown, places }: Arranged, from: string, way: Way | null): string {
  const at = places[from];
  if (!at) return shown.nodes[0]?.id ?? from;
  if (way === null) return from;
  if (way === 'left') return shown.edges.find((edge) => edge.to === from)?.from ?? from;
  if (way !== 'right')
    return nearestBeside(
      places,
      from,
      way,
      shown.nodes.map((node) => node.id),
    );
  let found = from;
  let closest = Infinity;
  for (const { from: parent, to } of shown.edges) {
    const place = places[to];
    if (parent !== from || !place || to === from) continue;
    const distance = Math.abs(place.y - at.y);
    if (distance < closest) [closest, found] = [distance, to];
  }
  return found;
}
