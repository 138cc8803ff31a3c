import {
  symbol,
  symbolCircle,
  symbolDiamond,
  symbolSquare,
  symbolStar,
  symbolTimes,
  symbolTriangle,
  type SymbolType,
} from 'd3-shape';
import type { Point } from '../points';

/** How a point looks: a shape and a colour, so that colour is never the only sign. */
export interface Look {
  id: string;
  says: string;
  path: string;
  /** A custom property of the theme. */
  colour: string;
  drawn: 'filled' | 'hollow';
}

function look(
  id: string,
  says: string,
  type: SymbolType,
  size: number,
  colour: string,
  drawn: Look['drawn'] = 'filled',
): Look {
  return { id, says, path: symbol(type, size)() ?? '', colour, drawn };
}

const LOOKS = {
  baseline: look('baseline', 'Baseline', symbolDiamond, 90, '--text'),
  best: look('best', 'Best', symbolStar, 130, '--chart-line'),
  completed: look('completed', 'Completed', symbolCircle, 56, '--chart-point'),
  mini: look('mini', 'Mini-batch', symbolCircle, 16, '--chart-muted'),
  pruned: look('pruned', 'Pruned', symbolTriangle, 46, '--warn', 'hollow'),
  failed: look('failed', 'Failed', symbolTimes, 56, '--bad', 'hollow'),
  cancelled: look('cancelled', 'Cancelled', symbolSquare, 42, '--chart-muted', 'hollow'),
  running: look('running', 'Running', symbolCircle, 60, '--info', 'hollow'),
} satisfies Record<string, Look>;

export function lookOf(point: Point, best: string | null): Look {
  if (point.status === 'running' || point.status === 'pending') return LOOKS.running;
  if (point.status === 'failed' || point.status === 'timeout') return LOOKS.failed;
  if (point.status === 'cancelled') return LOOKS.cancelled;
  if (point.kind === 'mini-batch') return LOOKS.mini;
  if (point.candidate_id === best) return LOOKS.best;
  if (point.kind === 'baseline') return LOOKS.baseline;
  return point.status === 'pruned' ? LOOKS.pruned : LOOKS.completed;
}

/** Those that are drawn, for the legend, in a lasting order. */
export function looksIn(points: Iterable<Point>, best: string | null): Look[] {
  const seen = new Set<Look>();
  for (const point of points) seen.add(lookOf(point, best));
  return Object.values(LOOKS).filter((one) => seen.has(one));
}
