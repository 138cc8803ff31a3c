import { outputText } from '../candidate/items/answers';
import type { ItemRun, RoundView } from './result';

export interface ChartPoint {
  round: number;
  score: number;
  low?: number;
  high?: number;
}

export interface Placed extends ChartPoint {
  x: number;
  y: number;
  yLow: number | null;
  yHigh: number | null;
}

export interface RoundsLayout {
  points: Placed[];
  path: string;
  ticks: { value: number; y: number }[];
  threshold: number | null;
  /** The end of the threshold's line that is further from the scores: its name stands there. */
  nameAt: 'start' | 'end';
  left: number;
  right: number;
  bottom: number;
}

export const MARGIN = { top: 32, right: 26, bottom: 34, left: 40 };
const STEPS = 4;

/** Where everything of a small chart stands. Scores are from 0 to 1; others widen the scale. */
export function layout(
  points: readonly ChartPoint[],
  threshold: number | null,
  size: { width: number; height: number },
): RoundsLayout {
  const values = points.flatMap((one) => [one.score, one.low ?? one.score, one.high ?? one.score]);
  const low = Math.min(0, ...values);
  const high = Math.max(1, threshold ?? 1, ...values);
  const left = MARGIN.left;
  const right = Math.max(left + 1, size.width - MARGIN.right);
  const bottom = size.height - MARGIN.bottom;
  const y = (value: number) => bottom - ((value - low) / (high - low)) * (bottom - MARGIN.top);
  const room = right - left;
  // A few rounds stand near each other: a line over the whole width would look flat.
  const step = points.length > 1 ? Math.min(150, (room - 40) / (points.length - 1)) : 0;
  const first = left + (room - step * (points.length - 1)) / 2;
  const placed = points.map((one, index) => ({
    ...one,
    x: first + index * step,
    y: y(one.score),
    yLow: one.low === undefined ? null : y(one.low),
    yHigh: one.high === undefined ? null : y(one.high),
  }));
  const line = threshold === null ? null : y(threshold);
  const far = (one: Placed | undefined) => (one && line !== null ? Math.abs(one.y - line) : 0);
  return {
    points: placed,
    path: placed.map((one, at) => `${at === 0 ? 'M' : 'L'}${one.x},${one.y}`).join(''),
    ticks: Array.from({ length: STEPS + 1 }, (_, at) => {
      const value = low + ((high - low) * at) / STEPS;
      return { value, y: y(value) };
    }),
    threshold: line,
    nameAt: far(placed[0]) >= far(placed.at(-1)) ? 'start' : 'end',
    left,
    right,
    bottom,
  };
}

export function roundName(round: number): string {
  return round === 0 ? 'First output' : `Round ${round}`;
}

/** Rounds that have a verdict: the others have no score that counts. */
export function judged(rounds: readonly RoundView[]): ChartPoint[] {
  return rounds
    .filter((one) => one.error === null)
    .map((one) => ({ round: one.round, score: one.score }));
}

/** What is shown of one round. */
export interface Step {
  round: RoundView;
  text: string;
  /** The text of the round before; null for the first. */
  before: string | null;
  /** Against the last round that has a verdict; null where there is none to compare. */
  delta: number | null;
  answer: boolean;
}

export function stepsOf(run: Pick<ItemRun, 'rounds' | 'refinement'>): Step[] {
  let score: number | null = null;
  let before: string | null = null;
  return run.rounds.map((round) => {
    const text = outputText(round.output);
    const counts = round.error === null;
    const step = {
      round,
      text,
      before,
      delta: counts && score !== null ? round.score - score : null,
      answer: run.refinement?.answer_round === round.round,
    };
    before = text;
    if (counts) score = round.score;
    return step;
  });
}

/** "0.40 → 0.60 → 0.90", for whoever cannot see the line. */
export function scorePath(points: readonly ChartPoint[]): string {
  return points.map((one) => one.score.toFixed(2)).join(' → ');
}

export type ScoredRun = Pick<ItemRun, 'item_id' | 'repeat'>;

/** Where a run stands in a list, and its neighbours. */
export function neighbours<Run extends ScoredRun>(
  runs: readonly Run[],
  item: string,
  repeat: number,
): { at: number; run: Run | undefined; before: Run | undefined; next: Run | undefined } {
  const at = runs.findIndex((one) => one.item_id === item && one.repeat === repeat);
  if (at < 0) return { at, run: undefined, before: undefined, next: undefined };
  return { at, run: runs[at], before: runs[at - 1], next: runs[at + 1] };
}
