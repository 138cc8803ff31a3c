import { memo, type ReactNode } from 'react';
import { useWidth } from '@/components/ChartFrame';
import { MARGIN, RAIL, type Scales } from './scale';

/** Grid, axes and their words. */
export const Frame = memo(function Frame({
  scales,
  xTicks,
  xText,
  xTitle,
  yText,
  rail,
}: {
  scales: Scales;
  xTicks: readonly number[];
  xText: (value: number) => string;
  xTitle: string;
  yText: (value: number) => string;
  rail: boolean;
}) {
  const { x, y, width, bottom, floor } = scales;
  return (
    <>
      <g className="grid">
        {y.ticks(6).map((tick) => (
          <line key={tick} x1={MARGIN.left} x2={width - MARGIN.right} y1={y(tick)} y2={y(tick)} />
        ))}
      </g>
      {y.ticks(6).map((tick) => (
        <text key={tick} x={MARGIN.left - 8} y={y(tick)} dy="0.32em" textAnchor="end">
          {yText(tick)}
        </text>
      ))}
      {xTicks.map((tick) => (
        <g key={tick} transform={`translate(${x(tick)},${bottom})`}>
          <line className="axis" y2={5} />
          <text y={18} textAnchor="middle">
            {xText(tick)}
          </text>
        </g>
      ))}
      <line className="axis" x1={MARGIN.left} x2={width - MARGIN.right} y1={bottom} y2={bottom} />
      <text x={MARGIN.left} y={bottom + 36} className="score-axis-title">
        {xTitle}
      </text>
      {rail && (
        <g>
          <rect
            className="score-rail"
            x={MARGIN.left}
            y={floor + 3}
            width={Math.max(0, width - MARGIN.left - MARGIN.right)}
            height={RAIL - 3}
          />
          <text x={MARGIN.left - 8} y={floor + RAIL / 2 + 2} dy="0.32em" textAnchor="end">
            none
          </text>
        </g>
      )}
    </>
  );
});

/** Draws once it knows how wide it is. It comes and goes with the chart, so it measures anew. */
export function Measured({
  panel,
  children,
  foot,
}: {
  panel: string;
  children: (width: number) => ReactNode;
  foot: ReactNode;
}) {
  const [element, width] = useWidth();
  return (
    <div ref={element} className="score-body" data-panel={panel}>
      {width > 0 && children(width)}
      {foot}
    </div>
  );
}
