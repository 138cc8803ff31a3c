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
import { useStream } from '@/live/useStream';
import { useThrottled } from '@/live/useThrottled';
import { queryOf, type RunFilters, type RunLine } from './filters';
import { followed, patched } from './patch';

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
  return page.items[0]?.id ?? 0;
}

export function useFacets() {
  return useQuery({
    queryKey: ['runs-facets'],
    queryFn: () => answer(api.GET('/v1/private/optimizations/facets')),
    refetchInterval: LOOK_MS,
  });
}
