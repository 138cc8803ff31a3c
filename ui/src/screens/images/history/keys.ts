import type { Way } from '@/components/graph/keys';
import type { Placed } from './places';

/**
 * Where an arrow leads: left to the parent, right to the first child, up and down to the nearest
 * of about the same generation. From nowhere, to the best.
 */
export function nextCommit(
  { history, places }: Placed,
  from: string | null,
  way: Way,
): string | null {
  const at = from === null ? undefined : places[from];
  if (from === null || !at) return history.best ?? [...history.commits.keys()][0] ?? null;
  if (way === 'left') return history.edges.find((edge) => edge.to === from)?.from ?? from;
  if (way === 'right') return history.edges.find((edge) => edge.from === from)?.to ?? from;
  const sign = way === 'up' ? -1 : 1;
  let found = from;
  let closest = Infinity;
  for (const [id, place] of Object.entries(places)) {
    const dy = (place.y - at.y) * sign;
    if (id === from || dy < 1) continue;
    const distance = dy + 4 * Math.abs(place.x - at.x);
    if (distance < closest) [closest, found] = [distance, id];
  }
  return found;
}
