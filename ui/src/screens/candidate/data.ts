import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { answer, api, type Schemas } from '@/api/client';
import type { ItemChange, ItemFilter } from './items/matrix';
import { changesOf } from './items/matrix';

export type RunCandidate = Schemas['RunCandidate'];
export type CandidateRef = Schemas['CandidateRef'];
export type Experiment = Schemas['CandidateExperiment'];
export type Comparison = Schemas['ComparisonView'];
export type ComparedItem = Schemas['ComparedItemView'];
export type ItemDetail = Schemas['ItemDetail'];
export type ItemSide = Schemas['ItemSide'];
export type ItemRun = Schemas['ItemView'];
export type Review = Schemas['PromotionReviewView'];
export type On = 'search' | 'held_out';

/** Items that are asked for at once: the strip wants all of them soon. */
const PAGE = 200;
const WATCH_MS = 4_000;
const WAITING = new Set(['pending', 'running', null]);

function isMoving(candidate: RunCandidate | undefined): boolean {
  if (!candidate) return false;
  return candidate.experiments.some((one) => WAITING.has(one.status));
}

export function useCandidate(runId: string, candidateId: string | null) {
  return useQuery({
    queryKey: ['run', runId, 'candidate', candidateId],
    queryFn: () =>
      answer(
        api.GET('/v1/private/optimizations/{optimization_id}/candidates/{candidate_id}', {
          params: { path: { optimization_id: runId, candidate_id: candidateId ?? '' } },
        }),
      ),
    enabled: candidateId !== null,
    refetchInterval: (query) => (isMoving(query.state.data) ? WATCH_MS : false),
  });
}

export function useRun(runId: string) {
  return useQuery({
    queryKey: ['run', runId, 'view'],
    queryFn: () =>
      answer(
        api.GET('/v1/private/optimizations/{optimization_id}', {
          params: { path: { optimization_id: runId } },
        }),
      ),
  });
}

/** Ids of the candidates that no other beats in everything. */
export function useFront(runId: string) {
  return useQuery({
    queryKey: ['run', runId, 'front'],
    queryFn: () =>
      answer(
        api.GET('/v1/private/optimizations/{optimization_id}/front', {
          params: { path: { optimization_id: runId } },
        }),
      ),
    select: (front) => new Set(front.points.map((point) => point.candidate_id)),
  });
}

export interface Pair {
  runId: string;
  before: string;
  after: string;
  on: On;
}

export function useComparison(pair: Pair | null) {
  return useQuery({
    queryKey: ['compare', pair],
    queryFn: () =>
      answer(
        api.GET('/v1/private/optimizations/{optimization_id}/compare', {
          params: {
            path: { optimization_id: pair?.runId ?? '' },
            query: { before: pair?.before ?? '', after: pair?.after ?? '', on: pair?.on },
          },
        }),
      ),
    enabled: pair !== null,
  });
}

export function useComparedItems(pair: Pair | null, filter: ItemFilter, sought: string) {
  const changes: ItemChange[] = changesOf(filter);
  return useInfiniteQuery({
    queryKey: ['compare', pair, 'items', filter, sought],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) =>
      answer(
        api.GET('/v1/private/optimizations/{optimization_id}/compare/items', {
          params: {
            path: { optimization_id: pair?.runId ?? '' },
            query: {
              before: pair?.before ?? '',
              after: pair?.after ?? '',
              on: pair?.on,
              limit: PAGE,
              ...(changes.length > 0 ? { change: changes } : {}),
              ...(sought === '' ? {} : { q: sought }),
              ...(pageParam ? { cursor: pageParam } : {}),
            },
          },
        }),
      ),
    getNextPageParam: (page) => page.next_cursor,
    enabled: pair !== null,
    placeholderData: (before) => before,
  });
}

export function useItem(pair: Pair, itemId: string) {
  // A candidate beside itself is asked for once.
  const sides = [...new Set([pair.before, pair.after])];
  return useQuery({
    queryKey: ['item', pair, itemId],
    queryFn: () =>
      answer(
        api.GET('/v1/private/optimizations/{optimization_id}/item', {
          params: {
            path: { optimization_id: pair.runId },
            query: { item_id: itemId, candidate_id: sides, on: pair.on },
          },
        }),
      ),
  });
}

export function useReview(runId: string, candidateId: string) {
  return useQuery({
    queryKey: ['run', runId, 'promotion', candidateId],
    queryFn: () =>
      answer(
        api.GET('/v1/private/optimizations/{optimization_id}/promotion', {
          params: { path: { optimization_id: runId }, query: { candidate_id: candidateId } },
        }),
      ),
    // A review is about what is active now.
    staleTime: 0,
    gcTime: 0,
  });
}
