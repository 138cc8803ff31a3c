import { useMemo } from 'react';
import { useWidth } from '@/components/ChartFrame';
import { interval, score } from '@/lib/format';
import { layout, roundName, scorePath, type ChartPoint } from './rounds';

const HEIGHT = 216;
/** Closer than this, numbers over the points would touch. */
const LABEL_PX = 46;

/** Scores over rounds, with error bars where there are intervals and the threshold as a line. */
export function RoundsChart({
  points,
  threshold,
  answer = null,
  label,
}: {
  points: readonly ChartPoint[];
  threshold: number | null;
  /** The round that is the answer. */
  answer?: number | null;
  label: string;
}) {
  const [element, width] = useWidth();
  const drawn = useMemo(
    () => layout(points, threshold, { width: Math.max(width, 240), height: HEIGHT }),
    [points, threshold, width],
  );
  const near = (drawn.points[1]?.x ?? Infinity) - (drawn.points[0]?.x ?? 0) < LABEL_PX;
  const target = threshold === null ? '' : `, threshold ${threshold}`;
  return (
    <div ref={element} className="evals-chart">
      {width > 0 && (
        <svg
          className="chart"
          width={width}
          height={HEIGHT}
          role="img"
          aria-label={`${label}: ${scorePath(points)}${target}`}
        >
          <g className="grid">
            {drawn.ticks.map((tick) => (
              <g key={tick.value}>
                <line x1={drawn.left} x2={drawn.right} y1={tick.y} y2={tick.y} />
                <text x={drawn.left - 8} y={tick.y + 4} textAnchor="end">
                  {tick.value.toFixed(2)}
                </text>
              </g>
            ))}
          </g>
          {drawn.threshold !== null && (
            <g className="evals-threshold">
              <line x1={drawn.left} x2={drawn.right} y1={drawn.threshold} y2={drawn.threshold} />
              <text
                x={drawn.nameAt === 'start' ? drawn.left + 2 : drawn.right}
                y={drawn.threshold - 5}
                textAnchor={drawn.nameAt}
              >
                {`threshold ${threshold}`}
              </text>
            </g>
          )}
          <path className="evals-line" d={drawn.path} />
          {drawn.points.map((one, at) => (
            <g key={one.round} data-round={one.round}>
              <title>
                {`${roundName(one.round)}: ${score(one.score)}${
                  one.low === undefined ? '' : ` (95% interval ${interval(one.low, one.high)})`
                }`}
              </title>
              {one.yLow !== null && one.yHigh !== null && (
                <path
                  className="evals-error"
                  d={`M${one.x - 5},${one.yHigh}h10M${one.x},${one.yHigh}V${one.yLow}M${one.x - 5},${one.yLow}h10`}
                />
              )}
              {one.round === answer && (
                <circle className="evals-ring" cx={one.x} cy={one.y} r={9} />
              )}
              <circle
                className="evals-point"
                data-reached={threshold !== null && one.score >= threshold}
                cx={one.x}
                cy={one.y}
                r={4.5}
              />
              {(!near || at === drawn.points.length - 1) && (
                <text
                  className="evals-value"
                  x={one.yLow === null ? one.x : one.x + 10}
                  y={one.y - (one.yLow === null ? 14 : 8)}
                  textAnchor={one.yLow === null ? 'middle' : 'start'}
                >
                  {one.score.toFixed(2)}
                </text>
              )}
              <text x={one.x} y={HEIGHT - 12} textAnchor="middle">
                {near ? one.round : one.round === 0 ? 'First' : roundName(one.round)}
              </text>
            </g>
          ))}
        </svg>
      )}
    </div>
  );
}
