import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { MANY } from '@/api/choices';
import { answer, api } from '@/api/client';
import { holds, itemQuery, type ItemFilter } from './itemFilters';
import { isLive, type ItemRun } from './result';

const LINES = 200;
const ITEMS = 100;
/** Evaluations have no stream of events: what runs is asked for again. */
export const POLL_MS = 3_000;
const LOOK_MS = 10_000;
const KEPT_MS = 60_000;

export function useLines() {
  const query = useInfiniteQuery({
    queryKey: ['evaluations'],
    queryFn: ({ pageParam, signal }) =>
      answer(
        api.GET('/v1/private/evaluations', {
          params: { query: { limit: LINES, cursor: pageParam } },
          signal,
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval: (one) => {
      const lines = one.state.data?.pages.flatMap((page) => page.items) ?? [];
      return lines.some((line) => isLive(line.status)) ? POLL_MS : LOOK_MS;
    },
  });
  const lines = useMemo(() => query.data?.pages.flatMap((page) => page.items) ?? [], [query.data]);
  return { query, lines };
}

/** One with what came out so far, asked for again while it runs. */
export function useEvaluation(id: string, kept = false) {
  return useQuery({
    queryKey: ['evaluation', id],
    queryFn: ({ signal }) =>
      answer(
        api.GET('/v1/private/evaluations/{experiment_id}', {
          params: { path: { experiment_id: id } },
          signal,
        }),
      ),
    enabled: id !== '',
    refetchInterval: (one) => (isLive(one.state.data?.status) ? POLL_MS : false),
    ...(kept && { staleTime: KEPT_MS }),
  });
}

/** Runs of items as the server filters them; the search is done here, over all of them. */
export function useItems(
  id: string,
  filter: ItemFilter,
  sought: string,
  options: { live: boolean; until?: (runs: readonly ItemRun[]) => boolean },
) {
  const query = useInfiniteQuery({
    // Once it has ended, all are asked for anew: the last came after the last look.
    queryKey: ['evaluation', id, 'items', filter, options.live ? 'so far' : 'all'],
    staleTime: 0,
    queryFn: ({ pageParam, signal }) =>
      answer(
        api.GET('/v1/private/evaluations/{experiment_id}/items', {
          params: {
            path: { experiment_id: id },
            query: { ...itemQuery(filter), limit: ITEMS, cursor: pageParam },
          },
          signal,
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    // Of another filter, but never of another evaluation.
    placeholderData: (before, from) => (from?.queryKey[1] === id ? before : undefined),
    refetchInterval: options.live ? POLL_MS : false,
  });
  const all = useMemo(() => query.data?.pages.flatMap((page) => page.items) ?? [], [query.data]);
  const runs = useMemo(() => all.filter((run) => holds(run, sought)), [all, sought]);
  const searching = sought.trim() !== '' || (options.until ? !options.until(all) : false);
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = query;
  const wantsMore = searching && hasNextPage && !isFetchingNextPage && !isFetchNextPageError;
  useEffect(() => {
    if (wantsMore) void fetchNextPage();
  }, [wantsMore, fetchNextPage]);
  return { query, runs, looked: all.length, searching: searching && hasNextPage };
}

/** An evaluation outlives its suite and agent: without them the page says less, and no error. */
export function useSuite(suite: string) {
  return useQuery({
    queryKey: ['suite', suite],
    queryFn: () => answer(api.GET('/v1/private/suites/{suite}', { params: { path: { suite } } })),
    enabled: suite !== '',
    staleTime: KEPT_MS,
  });
}

export function useAgent(agent: string) {
  return useQuery({
    queryKey: ['agent', agent],
    queryFn: () => answer(api.GET('/v1/private/agents/{agent}', { params: { path: { agent } } })),
    enabled: agent !== '',
    staleTime: KEPT_MS,
  });
}

export function useVersions(agent: string) {
  return useQuery({
    queryKey: ['new-evaluation', 'versions', agent],
    queryFn: () =>
      answer(
        api.GET('/v1/private/agents/{agent}/versions', {
          params: { path: { agent }, query: { limit: MANY } },
        }),
      ),
    enabled: agent !== '',
  });
}
