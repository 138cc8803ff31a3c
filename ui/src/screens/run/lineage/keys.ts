import type { Way } from '@/components/graph/keys';
import type { Arranged } from './places';

/**
 * Sideways along the lineage: left to a parent, right to the nearest child. Up and down to the
 * nearest node of about the same generation. Answers where one stands then.
 */
export function move({ shown, places }: Arranged, from: string, way: Way | null): string {
  const at = places[from];
  if (!at) return shown.nodes[0]?.id ?? from;
  if (way === null) return from;
  if (way === 'left') return shown.edges.find((edge) => edge.to === from)?.from ?? from;
  const candidates =
    way === 'right'
      ? shown.edges.filter((edge) => edge.from === from).map((edge) => edge.to)
      : shown.nodes.map((node) => node.id);
  const sign = way === 'up' ? -1 : 1;
  let found = from;
  let closest = Infinity;
  for (const id of candidates) {
    const place = places[id];
    if (!place || id === from) continue;
    const dy = (place.y - at.y) * (way === 'right' ? 1 : sign);
    if (way !== 'right' && dy < 1) continue;
    const distance = Math.abs(dy) + (way === 'right' ? 0 : 4 * Math.abs(place.x - at.x));
    if (distance < closest) {
      closest = distance;
      found = id;
    }
  }
  return found;
}
