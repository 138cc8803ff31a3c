import {
  useMemo,
  useRef,
  useState,
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
} from 'react';
import type { Mark, Range } from './axis';
import { Marks, styleOf } from './Marks';
import { MARGIN, placed, type Scales } from './scale';
import { lookOf } from './shapes';
import './score.css';

const REACH = 26;
/** A press that moves further chooses a stretch; less is a click. */
const DRAG = 6;
const ARROWS: Record<string, Direction> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
};

interface PlotProps {
  label: string;
  marks: readonly Mark[];
  scales: Scales;
  best: string | null;
  bars: boolean;
  /** Drawn below the points. */
  under: ReactNode;
  /** Drawn above them. */
  over?: ReactNode;
  describe(mark: Mark): string;
  card(mark: Mark): ReactNode;
  onOpen(mark: Mark): void;
  /** A stretch of the axis was chosen. */
  onRange?(range: Range): void;
  /** Keys that the chart does not take itself. Answers whether it did something. */
  onKey?(key: string): boolean;
}

/** Points that the pointer and the arrow keys reach. */
export function Plot(props: PlotProps) {
  const { label, marks, scales, best, bars, under, describe, card, onOpen } = props;
  const shown = useMemo(() => placed(marks, scales), [marks, scales]);
  // By id: rows come and go while a run is live.
  const [active, setActive] = useState<string | null>(null);
  const at = useMemo(
    () =>
      active === null ? -1 : shown.marks.findIndex((mark) => mark.point.experiment_id === active),
    [shown, active],
  );
  const { brush, handlers } = usePointer(props, shown, at, setActive);
  const mark = shown.marks[at];

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const take = () => event.preventDefault();
    const go = (index: number) => {
      take();
      setActive(shown.marks[index]?.point.experiment_id ?? null);
    };
    const direction = event.shiftKey ? undefined : ARROWS[event.key];
    if (direction) go(neighbour(shown.xs, shown.ys, at, direction));
    else if (event.key === 'Home') go(0);
    else if (event.key === 'End') go(shown.marks.length - 1);
    else if (event.key === 'Enter' && mark) {
      take();
      onOpen(mark);
    } else if (event.key === 'Escape' && mark) {
      take();
      setActive(null);
    } else if (props.onKey?.((event.shiftKey ? 'Shift+' : '') + event.key)) take();
  };

  return (
    <div
      className="score-plot"
      style={{ height: scales.height }}
      role="application"
      aria-roledescription="chart"
      aria-label={`${label}. Arrow keys move between points, Enter opens one.`}
      tabIndex={0}
      onKeyDown={onKeyDown}
      {...handlers}
    >
      <svg
        className="score-layer chart"
        width={scales.width}
        height={scales.height}
        aria-hidden="true"
      >
        {under}
      </svg>
      <Marks shown={shown} scales={scales} best={best} bars={bars} />
      <svg className="score-layer" width={scales.width} height={scales.height} aria-hidden="true">
        {props.over}
        {brush && (
          <rect
            className="score-brush"
            x={Math.min(brush[0], brush[1])}
            width={Math.abs(brush[1] - brush[0])}
            y={MARGIN.top}
            height={scales.bottom - MARGIN.top}
          />
        )}
        {mark && <Active mark={mark} x={shown.xs[at] ?? 0} y={shown.ys[at] ?? 0} {...props} />}
      </svg>
      {mark && !brush && (
        <div className="score-card" style={beside(shown.xs[at] ?? 0, shown.ys[at] ?? 0, scales)}>
          {card(mark)}
        </div>
      )}
      <div className="sr-only" aria-live="polite">
        {mark ? describe(mark) : ''}
      </div>
    </div>
  );
}

function Active({ mark, x, y, scales, best }: { mark: Mark; x: number; y: number } & PlotProps) {
  const look = lookOf(mark.point, best);
  const { ci_low: low, ci_high: high, score } = mark.point;
  return (
    <g>
      {score !== null && low !== null && high !== null && (
        <line
          className="score-bar strong"
          x1={x}
          x2={x}
          y1={Math.min(scales.y(low), scales.floor)}
          y2={Math.max(scales.y(high), MARGIN.top)}
        />
      )}
      <circle className="score-ring" cx={x} cy={y} r={9} />
      <path d={look.path} transform={`translate(${x},${y})`} style={styleOf(look)} />
    </g>
  );
}

const CARD = 268;
const CARD_HEIGHT = 290;

/** Next to the point, on the side with room, and within the chart as far as it goes. */
function beside(x: number, y: number, { width, height }: Scales): React.CSSProperties {
  const room = Math.min(CARD, width - 16);
  const left = x + 16 + room <= width ? x + 16 : x - 16 - room;
  const across = { left: Math.max(8, Math.min(left, width - room - 8)), width: room };
  const narrow = width < 2 * CARD;
  if (narrow)
    return y < height / 2 ? { ...across, top: y + 16 } : { ...across, bottom: height - y + 16 };
  return { ...across, top: Math.max(0, Math.min(y - 60, height - CARD_HEIGHT)) };
}

function usePointer(
  { scales, onOpen, onRange }: PlotProps,
  shown: ReturnType<typeof placed>,
  at: number,
  setActive: (id: string | null) => void,
) {
  const pressed = useRef<number | null>(null);
  const [brush, setBrush] = useState<readonly [number, number] | null>(null);
  const find = (event: PointerEvent) => {
    const box = event.currentTarget.getBoundingClientRect();
    const x = event.clientX - box.left;
    return { x, index: nearest(shown.xs, shown.ys, x, event.clientY - box.top, REACH) };
  };
  const handlers = {
    onPointerMove: (event: PointerEvent) => {
      const { x, index } = find(event);
      if (pressed.current !== null && onRange && Math.abs(x - pressed.current) > DRAG) {
        setBrush([pressed.current, x]);
        return;
      }
      setActive(shown.marks[index]?.point.experiment_id ?? null);
    },
    onPointerLeave: (event: PointerEvent) => {
      // A finger that is lifted has not left: its card stays to be read.
      if (pressed.current === null && event.pointerType !== 'touch') setActive(null);
    },
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0) return;
      pressed.current = find(event).x;
      event.currentTarget.setPointerCapture(event.pointerId);
    },
    onPointerCancel: () => {
      pressed.current = null;
      setBrush(null);
    },
    onPointerUp: (event: PointerEvent) => {
      if (pressed.current === null) return;
      pressed.current = null;
      if (brush && onRange) {
        const ends = [scales.x.invert(brush[0]), scales.x.invert(brush[1])];
        setBrush(null);
        onRange([Math.min(...ends), Math.max(...ends)]);
        return;
      }
      const { index } = find(event);
      const mark = shown.marks[index];
      // A finger cannot hover: its first touch shows the card, the second one opens.
      if (mark && (event.pointerType !== 'touch' || index === at)) onOpen(mark);
      else setActive(mark?.point.experiment_id ?? null);
    },
  };
  return { brush, handlers };
}

/** Finding points on a chart: by the pointer and by arrow keys. Coordinates are pixels. */
type Direction = 'left' | 'right' | 'up' | 'down';

/** The nearest point within reach, or -1. */
export function nearest(
  xs: ArrayLike<number>,
  ys: ArrayLike<number>,
  x: number,
  y: number,
  reach: number,
): number {
  let found = -1;
  let closest = reach * reach;
  for (let index = 0; index < xs.length; index += 1) {
    const dx = (xs[index] ?? 0) - x;
    if (dx > reach || dx < -reach) continue;
    const dy = (ys[index] ?? 0) - y;
    const distance = dx * dx + dy * dy;
    if (distance <= closest) {
      closest = distance;
      found = index;
    }
  }
  return found;
}

/** Sideways goes through all points in order; up and down to the nearest that is higher or lower. */
export function neighbour(
  xs: ArrayLike<number>,
  ys: ArrayLike<number>,
  at: number,
  direction: Direction,
): number {
  if (xs.length === 0) return -1;
  if (at < 0) return direction === 'left' ? xs.length - 1 : 0;
  if (direction === 'left') return Math.max(0, at - 1);
  if (direction === 'right') return Math.min(xs.length - 1, at + 1);
  const sign = direction === 'up' ? -1 : 1;
  let found = at;
  let closest = Infinity;
  for (let index = 0; index < xs.length; index += 1) {
    const rise = ((ys[index] ?? 0) - (ys[at] ?? 0)) * sign;
    if (rise < 0.5) continue;
    const distance = rise + 2 * Math.abs((xs[index] ?? 0) - (xs[at] ?? 0));
    if (distance < closest) {
      closest = distance;
      found = index;
    }
  }
  return found;
}
