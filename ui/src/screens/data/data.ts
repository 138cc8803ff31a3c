import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { MANY } from '@/api/choices';
import { answer, api, type Schemas } from '@/api/client';

export type Row = Schemas['RowView'];
const PAGE = 100;

export function useSuite(suite: string) {
  return useQuery({
    queryKey: ['suite', suite],
    queryFn: () => answer(api.GET('/v1/private/suites/{suite}', { params: { path: { suite } } })),
  });
}

export function useDatasets(sought = '') {
  return useQuery({
    queryKey: ['datasets', sought],
    queryFn: () =>
      answer(
        api.GET('/v1/private/datasets', {
          params: { query: { limit: MANY, ...(sought && { q: sought }) } },
        }),
      ),
    placeholderData: keepPreviousData,
  });
}

export function useDataset(id: string | null) {
  return useQuery({
    queryKey: ['dataset', id],
    queryFn: () =>
      answer(
        api.GET('/v1/private/datasets/{dataset_id}', {
          params: { path: { dataset_id: id ?? '' } },
        }),
      ),
    enabled: id !== null,
  });
}

export function useScorers() {
  return useQuery({
    queryKey: ['scorers'],
    queryFn: () => answer(api.GET('/v1/private/scorers')),
    staleTime: 60_000,
  });
}

/** The items of a suite, each with its split. */
export function useSuiteItems(suite: string, sought: string, split: string) {
  return useInfiniteQuery({
    queryKey: ['suite', suite, 'items', sought, split],
    queryFn: ({ pageParam }) =>
      answer(
        api.GET('/v1/private/suites/{suite}/items', {
          params: {
            path: { suite },
            query: {
              limit: PAGE,
              ...(sought && { q: sought }),
              ...(split && { split: split as 'train' | 'validation' | 'test' }),
              ...(pageParam && { cursor: pageParam }),
            },
          },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_cursor,
    placeholderData: keepPreviousData,
  });
}

/** The columns of a dataset, by the first of its items. */
export function useColumns(dataset: string): readonly string[] {
  const query = useQuery({
    queryKey: ['dataset', dataset, 'columns'],
    queryFn: async () => {
      const page = await answer(
        api.GET('/v1/private/datasets/{dataset_id}/items', {
          params: { path: { dataset_id: dataset }, query: { limit: 20 } },
        }),
      );
      return [...new Set(page.items.flatMap((row) => Object.keys(row.data)))];
    },
    enabled: dataset !== '',
    staleTime: Infinity,
  });
  return query.data ?? [];
}

export function useDatasetItems(dataset: string, sought: string) {
  return useInfiniteQuery({
    queryKey: ['dataset', dataset, 'items', sought],
    queryFn: ({ pageParam }) =>
      answer(
        api.GET('/v1/private/datasets/{dataset_id}/items', {
          params: {
            path: { dataset_id: dataset },
            query: {
              limit: PAGE,
              ...(sought && { q: sought }),
              ...(pageParam && { cursor: pageParam }),
            },
          },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_cursor,
    placeholderData: keepPreviousData,
  });
}
