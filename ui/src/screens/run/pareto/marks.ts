import { milliseconds, tokens } from '@/lib/format';
import { counts, front, measured, type Measure, type Point, type PointSet } from '../points';
import { decimals, type Mark, type Range } from '../score/axis';

export const MEASURES = [
  { value: 'tokens', label: 'Tokens' },
  { value: 'cost', label: 'Cost' },
  { value: 'latency', label: 'Latency' },
] as const satisfies readonly { value: Measure; label: string }[];

export const MEASURE_TITLE: Record<Measure, string> = {
  tokens: 'Tokens per item (fewer is better)',
  cost: 'Dollars per item (less is better)',
  latency: 'Latency per item (shorter is better)',
};

export function asMeasure(text: string): Measure {
  return MEASURES.find((measure) => measure.value === text)?.value ?? 'tokens';
}

/** Whole evaluations that ended and have the measure, cheapest first. */
export function tradeOffs(set: PointSet, measure: Measure): Mark[] {
  const marks: Mark[] = [];
  for (const point of set.points) {
    const x = counts(point) ? measured(point, measure) : null;
    if (x !== null && point.score !== null)
      marks.push({ point, x, y: point.score, rail: false, waiting: false });
  }
  return marks.sort((one, other) => one.x - other.x || one.point.number - other.point.number);
}

/** Corners of the front: from the cheapest upwards, and on to the right edge. */
export function frontLine(
  members: readonly Point[],
  measure: Measure,
  end: number,
): [number, number][] {
  const places = members.map((point): [number, number] => [
    measured(point, measure) ?? 0,
    point.score ?? 0,
  ]);
  const last = places.at(-1);
  return last ? [...places, [end, last[1]]] : [];
}

export function frontOf(set: PointSet, measure: Measure): ReadonlySet<string> {
  return new Set(front(set.points, measure).map((point) => point.candidate_id));
}

export function measureText(measure: Measure, value: number, step = 0): string {
  if (measure === 'tokens') return tokens(value);
  if (measure === 'latency') return milliseconds(value);
  return `$${value.toFixed(decimals(step, step > 0 ? 2 : 5, 7))}`;
}

/** Ticks without their unit, which the axis names. */
export function tickText(measure: Measure, value: number, step: number): string {
  if (measure === 'tokens') return value.toLocaleString('en-US');
  return measureText(measure, value, step);
}

/** Why there is nothing to draw, or null. */
export function emptyMeasure(marks: readonly Mark[], measure: Measure): string | null {
  if (marks.length === 0)
    return measure === 'cost'
      ? 'What the calls cost is not known: the price of a model is missing.'
      : `No trial that ended says its ${measure}.`;
  if (measure === 'cost' && marks.every((mark) => mark.x === 0)) return 'Every call was free.';
  return null;
}

export function airy(marks: readonly Mark[]): Range {
  const first = marks[0]?.x ?? 0;
  const last = marks.at(-1)?.x ?? 1;
  const air = (last - first) * 0.05 || Math.max(Math.abs(last) * 0.05, 1e-9);
  return [first - air, last + air];
}
