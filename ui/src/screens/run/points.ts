import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useCallback, useRef } from 'react';
import { answer, api, type Schemas } from '@/api/client';

export type Kind = 'baseline' | 'trial' | 'mini-batch';
export type PointStatus =
  | 'pending'
  | 'running'
  | 'completed'
  | 'pruned'
  | 'failed'
  | 'cancelled'
  | 'timeout';

/** One experiment of a run: a row of the charts and tables. */
export interface Point {
  candidate_id: string;
  number: number;
  step_index: number;
  /** Numbers of the candidates it came from. */
  parents: readonly number[];
  kind: Kind;
  status: PointStatus;
  score: number | null;
  ci_low: number | null;
  ci_high: number | null;
  items: number;
  passed: number;
  pass_rate: number;
  /** Item runs of the whole run up to its end; null while it runs. */
  evaluations: number | null;
  cost_usd: number | null;
  cost_so_far_usd: number | null;
  avg_tokens: number | null;
  avg_latency_ms: number | null;
  avg_cost_usd: number | null;
  created_at: string | null;
  finished_at: string | null;
  rationale: string | null;
  error: string | null;
  experiment_id: string;
  /** The model that answers, where the run may choose. */
  model?: string | null;
}

export interface PointSet {
  /** By number; a trial comes before its candidate's mini-batches. */
  points: readonly Point[];
  /** The best candidate's id. */
  best: string | null;
  lastEventId: number;
  /** A candidate's trial, or its last mini-batch where there is no trial. */
  byNumber: ReadonlyMap<number, Point>;
}

/** What every panel of a run's trials is given. */
export interface PanelProps {
  runId: string;
  set: PointSet;
  running: boolean;
}

export type PointsAnswer = Schemas['Points'];
export type Measure = 'tokens' | 'cost' | 'latency';

export const isWaiting = (point: Point) => point.status === 'running' || point.status === 'pending';
export const isFull = (point: Point) => point.kind !== 'mini-batch';
/** Only whole evaluations that ended are compared with each other. */
export const counts = (point: Point): point is Point & { score: number } =>
  isFull(point) && point.status === 'completed' && point.score !== null;

/** Rows out of the columns that the server sends. */
export function decode(sent: PointsAnswer): Point[] {
  const columns = sent.columns as unknown as Record<keyof Point, readonly unknown[]>;
  const names = Object.keys(columns) as (keyof Point)[];
  return Array.from({ length: sent.count }, (_, index) => {
    const row: Record<string, unknown> = {};
    for (const name of names) row[name] = columns[name][index];
    return row as unknown as Point;
  });
}

function same(one: Point, other: Point): boolean {
  for (const name of Object.keys(other) as (keyof Point)[]) {
    if (name === 'parents') continue;
    if (one[name] !== other[name]) return false;
  }
  return (
    one.parents.length === other.parents.length &&
    one.parents.every((parent, index) => parent === other.parents[index])
  );
}

function byPlace(one: Point, other: Point): number {
  if (one.number !== other.number) return one.number - other.number;
  if (isFull(one) !== isFull(other)) return isFull(one) ? -1 : 1;
  return (one.created_at ?? '') < (other.created_at ?? '') ? -1 : 1;
}

function numbered(points: readonly Point[]): Map<number, Point> {
  const found = new Map<number, Point>();
  for (const point of points) {
    const there = found.get(point.number);
    if (!there || isFull(point) || !isFull(there)) found.set(point.number, point);
  }
  return found;
}

/**
 * What was there and what came: rows that did not change stay the same objects, and where nothing
 * changed at all, so does the list. Charts draw anew only what is new.
 */
export function merge(before: PointSet | undefined, sent: PointsAnswer): PointSet {
  const came = decode(sent);
  const best = sent.best_candidate_id;
  const lastEventId = Math.max(sent.last_event_id, before?.lastEventId ?? 0);
  if (!before) return { points: came, best, lastEventId, byNumber: numbered(came) };
  const rows = new Map(came.map((point) => [point.experiment_id, point]));
  let changed = false;
  const kept = before.points.map((point) => {
    const now = rows.get(point.experiment_id);
    rows.delete(point.experiment_id);
    if (!now || same(point, now)) return point;
    changed = true;
    return now;
  });
  if (!changed && rows.size === 0) {
    const untouched = best === before.best && lastEventId === before.lastEventId;
    return untouched ? before : { ...before, best, lastEventId };
  }
  const points = rows.size === 0 ? kept : [...kept, ...rows.values()].sort(byPlace);
  return { points, best, lastEventId, byNumber: numbered(points) };
}

export interface Step {
  x: number;
  score: number;
  point: Point;
}

/** The best score so far, along an axis: one step for each time that it rose. */
export function bestSoFar(
  points: readonly Point[],
  along: (point: Point) => number | null,
): Step[] {
  const placed: Step[] = [];
  for (const point of points) {
    const x = counts(point) ? along(point) : null;
    if (x !== null && point.score !== null) placed.push({ x, score: point.score, point });
  }
  placed.sort((one, other) => one.x - other.x || one.point.number - other.point.number);
  const steps: Step[] = [];
  let top = -Infinity;
  for (const step of placed) {
    if (step.score <= top) continue;
    top = step.score;
    steps.push(step);
  }
  return steps;
}

/** Whether candidates name the models that answer. */
export const choosesModel = (points: readonly Point[]) => points.some((point) => point.model);

export function measured(point: Point, measure: Measure): number | null {
  if (measure === 'tokens') return point.avg_tokens;
  return measure === 'cost' ? point.avg_cost_usd : point.avg_latency_ms;
}

/** Candidates of which none other is better in one and as good in the other; cheapest first. */
export function front(points: readonly Point[], measure: Measure): Point[] {
  const rivals = points
    .filter((point) => counts(point) && measured(point, measure) !== null)
    .sort(
      (one, other) =>
        (measured(one, measure) ?? 0) - (measured(other, measure) ?? 0) ||
        (other.score ?? 0) - (one.score ?? 0) ||
        one.number - other.number,
    );
  const found: Point[] = [];
  for (const point of rivals) {
    const last = found.at(-1);
    if (!last || (point.score ?? 0) > (last.score ?? 0)) found.push(point);
    else if (point.score === last.score && measured(point, measure) === measured(last, measure))
      found.push(point);
  }
  return found;
}

const POLL_MS = 3_000;

async function load(runId: string, before: PointSet | undefined, signal: AbortSignal) {
  const sent = await answer(
    api.GET('/v1/private/optimizations/{optimization_id}/points', {
      params: {
        path: { optimization_id: runId },
        query: { mini_batches: true, ...(before ? { since: before.lastEventId } : {}) },
      },
      signal,
    }),
  );
  return merge(before, sent);
}

/** All points of a run once, then only what changed. `refresh` asks for it. */
export function usePoints(
  runId: string,
  { polling }: { polling: boolean },
): { query: UseQueryResult<PointSet, Error>; refresh: () => Promise<void> } {
  const cache = useQueryClient();
  const query = useQuery({
    queryKey: ['points', runId],
    queryFn: ({ queryKey, signal }) =>
      load(runId, cache.getQueryData<PointSet>(queryKey as string[]), signal),
    // Merging keeps what did not change; comparing thousands of rows again would only cost time.
    structuralSharing: false,
    refetchInterval: polling ? POLL_MS : false,
  });
  const { refetch } = query;
  const asking = useRef({ busy: false, again: false });
  const refresh = useCallback(async () => {
    const state = asking.current;
    // What happens during an answer may not be in it: ask once more, but never two at a time.
    if (state.busy) {
      state.again = true;
      return;
    }
    state.busy = true;
    try {
      do {
        // One that is already under way may have begun before the news.
        state.again = cache.isFetching({ queryKey: ['points', runId] }) > 0;
        await refetch({ cancelRefetch: false });
      } while (state.again);
    } finally {
      state.busy = false;
    }
  }, [cache, refetch, runId]);
  return { query, refresh };
}
