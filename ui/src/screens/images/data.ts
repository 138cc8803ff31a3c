import {
  useInfiniteQuery,
  useQuery,
  useQueryClient,
  type QueryClient,
} from '@tanstack/react-query';
import { answer, ApiError } from '@/api/client';
import { blobOf } from '@/lib/pictures';
import { connectionError, images, timedFetch } from './client';
import { hasEnded } from './run/stages';
import type { Commit } from './types';

const PAGE = 50;
const WATCH_MS = 2_500;
const KEPT_MS = 60_000;

export function useProjects() {
  return useInfiniteQuery({
    queryKey: ['image-projects'],
    queryFn: ({ pageParam, signal }) =>
      answer(
        images.GET('/projects', {
          params: { query: { limit: PAGE, ...(pageParam && { cursor: pageParam }) } },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor,
  });
}

/** Every commit of a project with the one it was made from; `live` looks again and again. */
export function useLineage(project: string, live: boolean) {
  return useQuery({
    queryKey: ['image-lineage', project],
    queryFn: ({ signal }) =>
      answer(
        images.GET('/projects/{project_id}/lineage', {
          params: { path: { project_id: project } },
          signal,
        }),
      ),
    refetchInterval: live ? WATCH_MS : false,
  });
}

export function useCommit(id: string | null) {
  return useQuery({
    queryKey: ['image-commit', id],
    queryFn: ({ signal }): Promise<Commit> =>
      answer(
        images.GET('/commits/{commit_id}', { params: { path: { commit_id: id ?? '' } }, signal }),
      ),
    enabled: id !== null && id !== '',
    staleTime: KEPT_MS,
  });
}

/** The runs of a project, the newest first; looked at again while one of them goes on. */
export function useProjectRuns(project: string) {
  return useInfiniteQuery({
    queryKey: ['image-runs', project],
    queryFn: ({ pageParam, signal }) =>
      answer(
        images.GET('/eval-runs', {
          params: {
            query: { project_id: project, limit: PAGE, ...(pageParam && { cursor: pageParam }) },
          },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval: (query) => {
      const runs = query.state.data?.pages.flatMap((page) => page.items) ?? [];
      return runs.some((run) => !hasEnded(run)) ? WATCH_MS : false;
    },
  });
}

export function useImageModels() {
  return useQuery({
    queryKey: ['image-models'],
    queryFn: ({ signal }) => answer(images.GET('/image-models', { signal })),
    staleTime: KEPT_MS,
  });
}

/** What a new commit or a run that ended changes: the lists and the graph of its project. */
export function lookAgain(cache: QueryClient, project: string): void {
  for (const queryKey of [['image-lineage', project], ['image-runs', project], ['image-projects']])
    void cache.invalidateQueries({ queryKey });
}

export function useLookAgain(project: string): () => void {
  const cache = useQueryClient();
  return () => lookAgain(cache, project);
}

/** A picture's bytes: fetched with the key, which an address in an `img` cannot carry. */
export async function pictureOf(url: string, signal: AbortSignal): Promise<Blob> {
  // Of a row that holds the picture itself: nothing is asked for.
  if (url.startsWith('data:')) return blobOf(url);
  const response = await timedFetch(new Request(url, { signal })).catch((error: unknown) => {
    throw connectionError(error);
  });
  if (response.ok) return await response.blob();
  throw new ApiError(response.status, { message: 'The picture is not there.' });
}
