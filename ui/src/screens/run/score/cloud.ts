/** Thousands of equal dots, blended by hand: one pass over a few pixels each. */
export interface Mask {
  size: number;
  /** How much of each pixel the shape covers, from 0 to 255. */
  covers: Uint8ClampedArray;
}

/** How much of each pixel is covered by all dots together, from 0 to 255. */
export function cloud(
  width: number,
  height: number,
  places: Iterable<readonly [number, number]>,
  mask: Mask,
  strength: number,
): Uint8ClampedArray {
  // What shines through: dots on top of each other cover more, and never more than all.
  const through = new Uint8ClampedArray(width * height).fill(255);
  const { size, covers } = mask;
  const half = size / 2;
  for (const [x, y] of places) {
    const left = Math.round(x - half);
    const top = Math.round(y - half);
    for (let row = 0; row < size; row += 1) {
      const line = top + row;
      if (line < 0 || line >= height) continue;
      for (let column = 0; column < size; column += 1) {
        const covered = covers[row * size + column] ?? 0;
        const at = left + column;
        if (covered === 0 || at < 0 || at >= width) continue;
        const index = line * width + at;
        through[index] = ((through[index] ?? 255) * (255 - covered * strength)) / 255;
      }
    }
  }
  for (let index = 0; index < through.length; index += 1)
    through[index] = 255 - (through[index] ?? 255);
  return through;
}
