/** Finding points on a chart: by the pointer and by arrow keys. Coordinates are pixels. */
export type Direction = 'left' | 'right' | 'up' | 'down';

/** The nearest point within reach, or -1. */
export function nearest(
  xs: ArrayLike<number>,
  ys: ArrayLike<number>,
  x: number,
  y: number,
  reach: number,
): number {
  let found = -1;
  let closest = reach * reach;
  for (let index = 0; index < xs.length; index += 1) {
    const dx = (xs[index] ?? 0) - x;
    if (dx > reach || dx < -reach) continue;
    const dy = (ys[index] ?? 0) - y;
    const distance = dx * dx + dy * dy;
    if (distance <= closest) {
      closest = distance;
      found = index;
    }
  }
  return found;
}

/** Sideways goes through all points in order; up and down to the nearest that is higher or lower. */
export function neighbour(
  xs: ArrayLike<number>,
  ys: ArrayLike<number>,
  at: number,
  direction: Direction,
): number {
  if (xs.length === 0) return -1;
  if (at < 0) return direction === 'left' ? xs.length - 1 : 0;
  if (direction === 'left') return Math.max(0, at - 1);
  if (direction === 'right') return Math.min(xs.length - 1, at + 1);
  const sign = direction === 'up' ? -1 : 1;
  let found = at;
  let closest = Infinity;
  for (let index = 0; index < xs.length; index += 1) {
    const rise = ((ys[index] ?? 0) - (ys[at] ?? 0)) * sign;
    if (rise < 0.5) continue;
    const distance = rise + 2 * Math.abs((xs[index] ?? 0) - (xs[at] ?? 0));
    if (distance < closest) {
      closest = distance;
      found = index;
    }
  }
  return found;
}
