import type { LayoutAnswer } from './layout';

/** Which way an arrow key leads in a graph. */
export type Way = 'left' | 'right' | 'up' | 'down';

export const WAYS: Record<string, Way> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
};

/** The nearest of `ids` above or below, which is of about the same generation; else where one is. */
export function nearestBeside(
  places: LayoutAnswer['places'],
  from: string,
  way: 'up' | 'down',
  ids: Iterable<string>,
): string {
  const at = places[from];
  const sign = way === 'up' ? -1 : 1;
  let found = from;
  let closest = Infinity;
  for (const id of ids) {
    const place = places[id];
    if (!at || !place || id === from) continue;
    const dy = (place.y - at.y) * sign;
    if (dy < 1) continue;
    const distance = dy + 4 * Math.abs(place.x - at.x);
    if (distance < closest) [closest, found] = [distance, id];
  }
  return found;
}
