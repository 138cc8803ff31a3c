import { scaleLinear, type ScaleLinear } from 'd3-scale';
import type { Mark, Range } from './axis';

export const MARGIN = { top: 14, right: 18, bottom: 44, left: 56 };
/** Room for what ended without a score. */
export const RAIL = 22;

export interface Scales {
  x: ScaleLinear<number, number>;
  y: ScaleLinear<number, number>;
  width: number;
  height: number;
  /** Where the scores end; the rail is below. */
  floor: number;
  /** Where the axis is. */
  bottom: number;
}

export function scales(
  size: { width: number; height: number },
  xRange: Range,
  yRange: Range,
  rail: boolean,
): Scales {
  const bottom = size.height - MARGIN.bottom;
  const floor = bottom - (rail ? RAIL : 0);
  return {
    ...size,
    floor,
    bottom,
    x: scaleLinear(xRange, [MARGIN.left, Math.max(MARGIN.left + 1, size.width - MARGIN.right)]),
    y: scaleLinear(yRange, [floor, MARGIN.top]),
  };
}

export interface Placed {
  marks: readonly Mark[];
  xs: Float64Array;
  ys: Float64Array;
}

/** Marks in pixels. */
export function placed(marks: readonly Mark[], { x, y, floor }: Scales): Placed {
  const xs = new Float64Array(marks.length);
  const ys = new Float64Array(marks.length);
  marks.forEach((mark, index) => {
    xs[index] = x(mark.x);
    ys[index] = mark.rail ? floor + RAIL / 2 + 2 : y(mark.y);
  });
  return { marks, xs, ys };
}
