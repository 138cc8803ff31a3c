/** Where the arrow keys lead among cards: from none to the first, and never beyond the ends. */
export function stepOver(count: number, at: number, by: 1 | -1): number {
  if (count === 0) return -1;
  return at < 0 ? 0 : Math.max(0, Math.min(count - 1, at + by));
}
