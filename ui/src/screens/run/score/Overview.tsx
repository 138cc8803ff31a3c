import { scaleLinear } from 'd3-scale';
import { curveStepAfter, line } from 'd3-shape';
import { memo, useMemo, useRef, useState, type PointerEvent } from 'react';
import type { Step } from '../points';
import { shifted, yRange, type Mark, type Range } from './axis';
import { MARGIN } from './scale';

const HEIGHT = 44;

/** The whole run in a strip: what is shown above is lit; drag to choose or to move. */
export function Overview({
  steps,
  marks,
  whole,
  range,
  width,
  onRange,
}: {
  steps: readonly Step[];
  marks: readonly Mark[];
  whole: Range;
  range: Range | null;
  width: number;
  onRange(range: Range | null): void;
}) {
  const x = useMemo(
    () => scaleLinear(whole, [MARGIN.left, Math.max(MARGIN.left + 1, width - MARGIN.right)]),
    [whole, width],
  );
  const pressed = useRef<{ x: number; from: Range | null } | null>(null);
  const [dragged, setDragged] = useState<Range | null>(null);
  const shown = dragged ?? range ?? whole;
  const place = (event: PointerEvent) =>
    event.clientX - event.currentTarget.getBoundingClientRect().left;
  const reach = (event: PointerEvent): Range | null => {
    const start = pressed.current;
    if (!start) return null;
    const now = place(event);
    if (start.from) {
      const moved = x.invert(now) - x.invert(start.x);
      return shifted(start.from, whole, moved / (start.from[1] - start.from[0]));
    }
    if (Math.abs(now - start.x) < 4) return null;
    const ends = [x.invert(start.x), x.invert(now)];
    return [Math.max(whole[0], Math.min(...ends)), Math.min(whole[1], Math.max(...ends))];
  };
  return (
    <svg
      className="score-overview"
      width={width}
      height={HEIGHT}
      aria-hidden="true"
      onPointerDown={(event) => {
        const at = x.invert(place(event));
        const inside = range !== null && at >= range[0] && at <= range[1];
        pressed.current = { x: place(event), from: inside ? range : null };
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        if (pressed.current) setDragged(reach(event));
      }}
      onPointerUp={(event) => {
        const next = reach(event);
        const grabbed = pressed.current?.from;
        pressed.current = null;
        setDragged(null);
        if (next || !grabbed) onRange(next);
      }}
      onPointerCancel={() => {
        pressed.current = null;
        setDragged(null);
      }}
    >
      <Strip steps={steps} marks={marks} x={x} whole={whole} width={width} />
      {(dragged ?? range) && (
        <rect
          className="score-window"
          x={x(shown[0])}
          width={Math.max(3, x(shown[1]) - x(shown[0]))}
          y={0.5}
          height={HEIGHT - 1}
          rx={3}
        />
      )}
    </svg>
  );
}

const Strip = memo(function Strip({
  steps,
  marks,
  x,
  whole,
  width,
}: {
  steps: readonly Step[];
  marks: readonly Mark[];
  x: (value: number) => number;
  whole: Range;
  width: number;
}) {
  const { best, cloud } = useMemo(() => {
    const y = scaleLinear(yRange(marks), [HEIGHT - 4, 4]);
    const last = steps.at(-1);
    const places = steps.map((step): [number, number] => [x(step.x), y(step.score)]);
    if (last) places.push([x(whole[1]), y(last.score)]);
    // A handful of points for each pixel is all that can be seen.
    const each = Math.max(1, Math.floor(marks.length / 600));
    const dots: string[] = [];
    for (let index = 0; index < marks.length; index += each) {
      const mark = marks[index];
      if (mark && !mark.rail) dots.push(`M${x(mark.x).toFixed(1)} ${y(mark.y).toFixed(1)}h0`);
    }
    return { best: line().curve(curveStepAfter)(places), cloud: dots.join('') };
  }, [steps, marks, x, whole]);
  return (
    <>
      <rect
        className="score-rail"
        x={MARGIN.left}
        width={Math.max(0, width - MARGIN.left - MARGIN.right)}
        height={HEIGHT}
      />
      <path className="score-cloud" d={cloud} />
      {best && <path className="score-best" d={best} />}
    </>
  );
});
