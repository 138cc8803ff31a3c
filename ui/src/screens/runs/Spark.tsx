import { counted, score } from '@/lib/format';
import type { RunLine } from './filters';

const WIDTH = 112;
const HEIGHT = 30;

/** The best score so far over the evaluations, without axes: whether it rises, and whether it still does. */
export function Spark({ points }: { points: RunLine['spark'] }) {
  const first = points[0];
  const last = points.at(-1);
  if (!first || !last) return <span className="muted small">no score yet</span>;
  const { line, area, end } = sparkPath(points, WIDTH, HEIGHT);
  const says =
    points.length === 1
      ? `Baseline ${score(first.score)}`
      : `Best score from ${score(first.score)} to ${score(last.score)} ` +
        `over ${counted(last.evaluations, 'evaluation')}`;
  return (
    <svg className="runs-spark" width={WIDTH} height={HEIGHT} role="img" aria-label={says}>
      <title>{says}</title>
      <path className="runs-spark-area" d={area} />
      <path className="runs-spark-line" d={line} />
      <circle className="runs-spark-end" cx={end.x} cy={end.y} r="2.5" />
    </svg>
  );
}

interface SparkPoint {
  evaluations: number;
  score: number;
}

const PAD = 4;
/** A change of this much fills the height; smaller ones stay small, so that noise does not look like a climb. */
const LEAST_SPAN = 0.05;

/** A step line: a score holds until a better one comes. */
export function sparkPath(points: readonly SparkPoint[], width: number, height: number) {
  const scores = points.map((point) => point.score);
  const low = Math.min(...scores);
  const rise = Math.max(...scores) - low;
  const span = Math.max(rise, LEAST_SPAN);
  const from = points[0]?.evaluations ?? 0;
  const length = Math.max((points.at(-1)?.evaluations ?? 0) - from, 1);
  const x = (value: number) => round(PAD + ((value - from) / length) * (width - 2 * PAD));
  // What never rose runs through the middle.
  const lift = rise === 0 ? 0.5 : 0;
  const y = (value: number) =>
    round(height - PAD - (lift + (value - low) / span) * (height - 2 * PAD));
  const steps = points.map((point, index) =>
    index === 0
      ? `M${x(point.evaluations)} ${y(point.score)}`
      : `H${x(point.evaluations)}V${y(point.score)}`,
  );
  const last = points.at(-1);
  const end = { x: x(last?.evaluations ?? 0), y: y(last?.score ?? 0) };
  const line = steps.join('');
  return { line, area: `${line}V${height}H${PAD}Z`, end };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
