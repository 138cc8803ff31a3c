import {
  keepPreviousData,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
  type InfiniteData,
} from '@tanstack/react-query';
import { useMemo } from 'react';
import { answer, api, type Schemas } from '@/api/client';
import type { Mode } from '@/live/stream';
import { useStream, type RunEvent } from '@/live/useStream';
import { useThrottled } from '@/live/useThrottled';
import { withStatus } from '../run/view';
import { queryOf, type RunFilters, type RunLine } from './filters';

type Pages = InfiniteData<Schemas['OptimizationPage'], string | null>;

const PAGE = 50;
/** New runs send no event to whoever does not know of them yet. */
const LOOK_MS = 10_000;
const POLL_MS = 3_000;
const REFRESH_MS = 2_000;

export function useRuns(filters: RunFilters) {
  const key = useMemo(() => ['runs', filters], [filters]);
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) =>
      answer(
        api.GET('/v1/private/optimizations', {
          params: { query: { ...queryOf(filters), limit: PAGE, cursor: pageParam } },
          signal,
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: keepPreviousData,
    // Two of them in a row failed means that there is no stream either.
    refetchInterval: (one) => (one.state.status === 'error' ? POLL_MS : LOOK_MS),
  });
  const lines = useMemo(() => query.data?.pages.flatMap((page) => page.items) ?? [], [query.data]);
  const mode = useLiveRuns(lines, key, () => void query.refetch({ cancelRefetch: false }));
  return { query, lines, mode: query.isRefetchError ? ('polling' as const) : mode };
}

/** One stream for all that run; their lines change with each event and are read anew soon after. */
function useLiveRuns(
  lines: readonly RunLine[],
  key: readonly unknown[],
  refetch: () => void,
): Mode {
  const cache = useQueryClient();
  const ids = followed(lines);
  const url =
    ids.length === 0
      ? null
      : `/v1/private/events?${new URLSearchParams(ids.map((id) => ['optimization_id', id]))}`;
  const places = useQuery({
    queryKey: ['runs-places', url],
    queryFn: () => Promise.all(ids.map(lastEvent)),
    enabled: url !== null,
    staleTime: Infinity,
    gcTime: 0,
  });
  const refetchSoon = useThrottled(refetch, REFRESH_MS);
  return useStream({
    url,
    from: places.data?.join('.') ?? null,
    onEvent: (event) => {
      cache.setQueryData<Pages>(key, (before) => before && withEvent(before, event));
      refetchSoon();
    },
    onReload: async () => {
      refetch();
      return (await Promise.all(ids.map(lastEvent))).join('.');
    },
  });
}

function withEvent(pages: Pages, event: Parameters<typeof patched>[1]): Pages {
  return {
    ...pages,
    pages: pages.pages.map((page) => ({
      ...page,
      items: page.items.map((line) => patched(line, event)),
    })),
  };
}

async function lastEvent(id: string): Promise<number> {
  const page = await answer(
    api.GET('/v1/private/optimizations/{optimization_id}/event-log', {
      params: { path: { optimization_id: id }, query: { newest: true, limit: 1 } },
    }),
  );
  return page.items[0]?.sequence ?? 0;
}

export function useFacets() {
  return useQuery({
    queryKey: ['runs-facets'],
    queryFn: () => answer(api.GET('/v1/private/optimizations/facets')),
    refetchInterval: LOOK_MS,
  });
}

/** At most so many runs share one stream. */
const FOLLOWED = 100;

/** The runs whose events are wanted, in an order that does not change with the list's. */
export function followed(lines: readonly RunLine[]): string[] {
  const running = lines.filter((line) => line.status === 'running' || line.owned);
  return running
    .slice(0, FOLLOWED)
    .map((line) => line.optimization_id)
    .sort();
}

/** A line after an event: what the event itself says, until the list is read again. */
export function patched(line: RunLine, event: RunEvent): RunLine {
  if (event.optimization_id !== line.optimization_id) return line;
  const { payload } = event;
  switch (event.type) {
    case 'run_status_changed':
    case 'run_finished':
      return withStatus(line, payload.status);
    case 'best_candidate_changed':
      return withBest(line, payload);
    default:
      return line;
  }
}

function withBest(line: RunLine, payload: Record<string, unknown>): RunLine {
  const score = typeof payload.score === 'number' ? payload.score : null;
  if (score === null) return line;
  const delta = line.baseline_score === null ? null : score - line.baseline_score;
  return {
    ...line,
    best_score: score,
    best_candidate_id: String(payload.candidate_id ?? line.best_candidate_id),
    change:
      delta === null
        ? line.change
        : { delta, ci_low: null, ci_high: null, p_value: null, held_out: false, items: null },
  };
}
