import { count, duration } from '@/lib/format';
import {
  bestSoFar,
  counts,
  isFull,
  isWaiting,
  type Point,
  type PointSet,
  type Step,
} from '../points';

export const AXES = [
  { value: 'trial', label: 'Trial' },
  { value: 'evaluations', label: 'Evaluations' },
  { value: 'time', label: 'Time' },
  { value: 'cost', label: 'Cost' },
] as const;
export type Axis = (typeof AXES)[number]['value'];

export const AXIS_TITLE: Record<Axis, string> = {
  trial: 'Trial number',
  evaluations: 'Items evaluated so far',
  time: 'Time since the run began',
  cost: 'Spent so far',
};

/** Where a point is drawn. `rail`: it ended without a score and stands below the scores. */
export interface Mark {
  point: Point;
  x: number;
  y: number;
  rail: boolean;
  /** No score yet: drawn at the height of its parents. */
  waiting: boolean;
}

export function asAxis(text: string): Axis {
  return AXES.find((axis) => axis.value === text)?.value ?? 'trial';
}

const seconds = (text: string | null) => (text === null ? null : Date.parse(text) / 1000);

/** When the run began, in seconds. */
export function beginning(points: readonly Point[]): number {
  // Their texts are in the order of the times: only one has to be read.
  let first: string | null = null;
  for (const { created_at: at } of points)
    if (at !== null && (first === null || at < first)) first = at;
  return seconds(first) ?? 0;
}

/** A point's place along an axis; null where it has none yet. */
export function placing(axis: Axis, start: number): (point: Point) => number | null {
  if (axis === 'trial') return (point) => point.number;
  if (axis === 'evaluations') return (point) => point.evaluations;
  if (axis === 'cost') return (point) => point.cost_so_far_usd;
  return (point) => {
    const at = seconds(point.finished_at ?? point.created_at);
    return at === null ? null : at - start;
  };
}

function heightOfParents(point: Point, set: PointSet): number | null {
  const scores = point.parents
    .map((parent) => set.byNumber.get(parent)?.score ?? null)
    .filter((score) => score !== null);
  if (scores.length > 0) return Math.max(...scores);
  return set.points.find((one) => one.kind === 'baseline')?.score ?? null;
}

/** Every point that has a place, along the axis. */
export function marksOf(set: PointSet, axis: Axis, miniBatches: boolean): Mark[] {
  const along = placing(axis, beginning(set.points));
  let last = 0;
  for (const point of set.points) last = Math.max(last, along(point) ?? 0);
  const marks: Mark[] = [];
  for (const point of set.points) {
    if (!miniBatches && !isFull(point)) continue;
    const waiting = isWaiting(point);
    const x = along(point) ?? (waiting ? last : null);
    if (x === null) continue;
    const y = point.score ?? (waiting ? heightOfParents(point, set) : null);
    marks.push({ point, x, y: y ?? 0, rail: y === null, waiting });
  }
  return marks.sort((one, other) => one.x - other.x || one.point.number - other.point.number);
}

export function stepsOf(set: PointSet, axis: Axis): Step[] {
  return bestSoFar(set.points, placing(axis, beginning(set.points)));
}

export interface RowWithBest {
  mark: Mark;
  best: number | null;
}

/** Each mark with the best score up to it. Both are sorted along the axis. */
export function withBest(marks: readonly Mark[], steps: readonly Step[]): RowWithBest[] {
  let next = 0;
  return marks.map((mark) => {
    while (next < steps.length && (steps[next]?.x ?? Infinity) <= mark.x) next += 1;
    return { mark, best: steps[next - 1]?.score ?? null };
  });
}

export type Range = readonly [number, number];

/** The whole axis, with a little air on both sides. */
export function xRange(marks: readonly Mark[]): Range {
  const first = marks[0];
  const last = marks.at(-1);
  if (!first || !last) return [0, 1];
  const air = (last.x - first.x) * 0.015 || 0.5;
  return [first.x - air, last.x + air];
}

/** Scores that are shown, with air; a flat run gets some room too. */
export function yRange(marks: readonly Mark[], more: readonly (number | null)[] = []): Range {
  let low = Infinity;
  let high = -Infinity;
  const take = (value: number | null) => {
    if (value === null) return;
    low = Math.min(low, value);
    high = Math.max(high, value);
  };
  for (const mark of marks) if (!mark.rail) take(mark.y);
  more.forEach(take);
  if (low > high) return [0, 1];
  const air = (high - low) * 0.08 || Math.max(0.02, Math.abs(high) * 0.05);
  return [low - air, high + air];
}

/** `from~to` in the address; null for the whole. */
export function readZoom(text: string, whole: Range): Range | null {
  const [from, to] = text.split('~').map(Number);
  if (from === undefined || to === undefined || !(from < to)) return null;
  return to < whole[0] || from > whole[1] ? null : [from, to];
}

export function writeZoom(range: Range | null): string | null {
  return range && range.map((value) => String(Number(value.toPrecision(6)))).join('~');
}

/** Zooms around the middle by a factor, within the whole; null when that is all. */
export function zoomed(range: Range, whole: Range, factor: number): Range | null {
  const middle = (range[0] + range[1]) / 2;
  const half = ((range[1] - range[0]) / 2) * factor;
  if (half * 2 >= whole[1] - whole[0]) return null;
  return shifted([middle - half, middle + half], whole, 0);
}

/** Moves a range by a part of its width, without leaving the whole. */
export function shifted(range: Range, whole: Range, part: number): Range {
  const width = range[1] - range[0];
  const from = Math.min(Math.max(range[0] + width * part, whole[0]), whole[1] - width);
  return [from, from + width];
}

/** Marks within the range. They are sorted, so this is two searches and a slice. */
export function within(marks: readonly Mark[], range: Range): readonly Mark[] {
  const place = (limit: number, beyond: boolean) => {
    let low = 0;
    let high = marks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const x = marks[middle]?.x ?? 0;
      if (beyond ? x <= limit : x < limit) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const from = place(range[0], false);
  const to = place(range[1], true);
  return from === 0 && to === marks.length ? marks : marks.slice(from, to);
}

const TIME_STEPS = [
  0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900,
  1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400, 172_800, 604_800,
];

/** Ticks that people would choose for a time. */
export function timeTicks([from, to]: Range, most: number): number[] {
  const step =
    TIME_STEPS.find((one) => (to - from) / one <= most) ??
    Math.ceil((to - from) / most / 604_800) * 604_800;
  const ticks: number[] = [];
  for (let at = Math.ceil(from / step); at * step <= to; at += 1) ticks.push(at * step);
  return ticks;
}

/** A value of the axis as people read it. */
export function axisText(axis: Axis, value: number, step = 0): string {
  if (axis === 'time') return value < 0.0005 ? '0' : duration(value);
  if (axis === 'cost') return `$${value.toFixed(decimals(step, 2, 6))}`;
  return count(value);
}

/** As many decimals as tell neighbouring ticks apart. */
export function decimals(step: number, least: number, most: number): number {
  if (step <= 0) return least;
  return Math.min(most, Math.max(least, Math.ceil(-Math.log10(step) - 1e-9)));
}

/** Why an axis cannot be drawn, or null. */
export function emptyAxis(axis: Axis, set: PointSet): string | null {
  const scored = set.points.filter(counts);
  if (scored.length === 0) return null;
  const along = placing(axis, beginning(set.points));
  const places = scored.map(along).filter((place) => place !== null);
  if (places.length === 0)
    return axis === 'cost'
      ? 'What the calls cost is not known: the price of a model is missing.'
      : `Nothing that ended says its place along “${AXIS_TITLE[axis]}”.`;
  if (axis === 'cost' && places.every((place) => place === 0)) return 'Every call was free.';
  return null;
}
