import { count, score } from '@/lib/format';
import type { RunLine } from './filters';
import { sparkPath } from './sparkPath';

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
        `over ${count(last.evaluations)} evaluations`;
  return (
    <svg className="runs-spark" width={WIDTH} height={HEIGHT} role="img" aria-label={says}>
      <title>{says}</title>
      <path className="runs-spark-area" d={area} />
      <path className="runs-spark-line" d={line} />
      <circle className="runs-spark-end" cx={end.x} cy={end.y} r="2.5" />
    </svg>
  );
}
