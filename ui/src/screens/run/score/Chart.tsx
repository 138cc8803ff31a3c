import { curveStepAfter, line } from 'd3-shape';
import { useMemo, type ReactNode } from 'react';
import { score } from '@/lib/format';
import type { PointSet, Step } from '../points';
import {
  AXIS_TITLE,
  axisText,
  readZoom,
  shifted,
  timeTicks,
  within,
  writeZoom,
  xRange,
  yRange,
  zoomed,
  type Axis,
  type Mark,
  type Range,
} from './axis';
import { Frame } from './Frame';
import { MOST_BARS, MOST_ELEMENTS } from './Marks';
import { Overview } from './Overview';
import { Plot } from './Plot';
import { MARGIN, scales as scalesOf, type Scales } from './scale';

/** From so many points on there is an overview to move in. */
const MANY = 120;

export function ScoreChart({
  axis,
  marks,
  steps,
  set,
  width,
  bars,
  baseline,
  zoom,
  onZoom,
  describe,
  card,
  onOpen,
}: {
  axis: Axis;
  marks: readonly Mark[];
  steps: readonly Step[];
  set: PointSet;
  width: number;
  bars: boolean;
  baseline: number | null;
  zoom: string;
  onZoom(text: string | null): void;
  describe(mark: Mark): string;
  card(mark: Mark): ReactNode;
  onOpen(mark: Mark): void;
}) {
  const whole = useMemo(() => xRange(marks), [marks]);
  const range = useMemo(() => readZoom(zoom, whole), [zoom, whole]);
  const visible = useMemo(() => (range ? within(marks, range) : marks), [marks, range]);
  const crowded = visible.length > MOST_ELEMENTS;
  const rail = visible.some((mark) => mark.rail);
  const height = width < 520 ? 300 : 380;
  const scales = useMemo(() => {
    const before = range ? steps.findLast((step) => step.x <= range[0])?.score : null;
    const withBars = bars && visible.length <= MOST_BARS;
    const ends = withBars ? visible.flatMap(({ point }) => [point.ci_low, point.ci_high]) : [];
    return scalesOf(
      { width, height },
      range ?? whole,
      yRange(visible, [baseline, before ?? null, ...ends]),
      rail,
    );
  }, [width, height, range, whole, visible, baseline, steps, rail, bars]);
  const goTo = (next: Range | null) => onZoom(writeZoom(next));
  const onKey = (key: string) => {
    const now = range ?? whole;
    if (key === '+' || key === '=' || key === 'Shift++') goTo(zoomed(now, whole, 0.5));
    else if (key === '-') goTo(zoomed(now, whole, 2));
    else if (key === '0') goTo(null);
    else if (key === 'Shift+ArrowLeft' && range) goTo(shifted(range, whole, -0.25));
    else if (key === 'Shift+ArrowRight' && range) goTo(shifted(range, whole, 0.25));
    else return false;
    return true;
  };
  return (
    <>
      {range && (
        <button type="button" className="btn small score-reset" onClick={() => goTo(null)}>
          Show the whole run
        </button>
      )}
      <Plot
        label={`Scores along ${AXIS_TITLE[axis].toLowerCase()}, ${visible.length} points; plus and minus zoom`}
        marks={visible}
        scales={scales}
        best={set.best}
        bars={bars}
        describe={describe}
        card={card}
        onOpen={onOpen}
        onRange={goTo}
        onKey={onKey}
        // Among thousands the line would drown below them.
        over={crowded && <BestLine scales={scales} steps={steps} />}
        under={
          <Under
            scales={scales}
            axis={axis}
            steps={steps}
            marks={visible}
            set={set}
            baseline={baseline}
            rail={rail}
            line={!crowded}
          />
        }
      />
      {marks.length > MANY && (
        <Overview
          steps={steps}
          marks={marks}
          whole={whole}
          range={range}
          width={width}
          onRange={goTo}
        />
      )}
    </>
  );
}

function Under({
  scales,
  axis,
  steps,
  marks,
  set,
  baseline,
  rail,
  line: withLine,
}: {
  scales: Scales;
  axis: Axis;
  steps: readonly Step[];
  marks: readonly Mark[];
  set: PointSet;
  baseline: number | null;
  rail: boolean;
  line: boolean;
}) {
  const ticks = useMemo(() => {
    const [from = 0, to = 1] = scales.x.domain();
    const most = Math.max(2, Math.floor(scales.width / 110));
    const found = axis === 'time' ? timeTicks([from, to], most) : scales.x.ticks(most);
    return axis === 'cost' || axis === 'time' ? found : found.filter(Number.isInteger);
  }, [scales, axis]);
  const step = (ticks[1] ?? 0) - (ticks[0] ?? 0);
  return (
    <>
      <Frame
        scales={scales}
        rail={rail}
        xTicks={ticks}
        xText={(value) => axisText(axis, value, step)}
        xTitle={AXIS_TITLE[axis]}
        yText={(value) => score(value)}
      />
      {baseline !== null && (
        <line
          className="score-baseline"
          x1={MARGIN.left}
          x2={scales.width - MARGIN.right}
          y1={scales.y(baseline)}
          y2={scales.y(baseline)}
        />
      )}
      {withLine && <BestLine scales={scales} steps={steps} />}
      <Waiting scales={scales} axis={axis} marks={marks} set={set} />
    </>
  );
}

/** Steps up to the right edge; the one before the left edge comes in from there. */
function BestLine({ scales, steps }: { scales: Scales; steps: readonly Step[] }) {
  const path = useMemo(() => {
    const [from = 0, to = 1] = scales.x.domain();
    const before = steps.findLast((step) => step.x < from);
    const inside = steps.filter((step) => step.x >= from && step.x <= to);
    const places = inside.map((step): [number, number] => [step.x, step.score]);
    if (before) places.unshift([from, before.score]);
    const last = places.at(-1);
    if (last) places.push([to, last[1]]);
    return line<[number, number]>(
      ([x]) => scales.x(x),
      ([, y]) => scales.y(y),
    ).curve(curveStepAfter)(places);
  }, [scales, steps]);
  return path && <path className="score-best" d={path} data-steps={steps.length} />;
}

/** From each running candidate to where it came from. */
function Waiting({
  scales,
  axis,
  marks,
  set,
}: {
  scales: Scales;
  axis: Axis;
  marks: readonly Mark[];
  set: PointSet;
}) {
  const places = useMemo(() => {
    const waiting = marks.filter((mark) => mark.waiting && !mark.rail);
    if (waiting.length === 0) return [];
    const known = new Map(marks.map((mark) => [mark.point.experiment_id, mark]));
    return waiting.flatMap((mark) =>
      mark.point.parents.flatMap((number) => {
        const parent = set.byNumber.get(number);
        const from = parent && known.get(parent.experiment_id);
        return from && !from.rail ? [{ mark, from }] : [];
      }),
    );
  }, [marks, set]);
  return places.map(({ mark, from }) => (
    <line
      key={`${mark.point.experiment_id} ${from.point.number}`}
      className="score-link"
      data-axis={axis}
      x1={scales.x(from.x)}
      y1={scales.y(from.y)}
      x2={scales.x(mark.x)}
      y2={scales.y(mark.y)}
    />
  ));
}
