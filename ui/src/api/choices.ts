import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { answer, api, ApiError } from './client';

/** As many as a menu offers. */
export const MANY = 200;

/** What forms choose from: the project's own, its agents, suites and optimizers. */
export function useProject() {
  return useQuery({
    queryKey: ['project'],
    queryFn: () => answer(api.GET('/v1/private/project')),
  });
}

export function useAgentNames() {
  return useQuery({
    queryKey: ['agents', 'names'],
    queryFn: () => answer(api.GET('/v1/private/agents', { params: { query: { limit: MANY } } })),
  });
}

export function useSuites() {
  return useQuery({
    queryKey: ['suites'],
    queryFn: () => answer(api.GET('/v1/private/suites', { params: { query: { limit: MANY } } })),
  });
}

export function useOptimizerKinds() {
  return useQuery({
    queryKey: ['optimizers'],
    queryFn: () => answer(api.GET('/v1/private/optimizers')),
    staleTime: 60_000,
  });
}

/** An estimate of what a form would do, asked for once nobody types any more. It checks the form, too. */
export function useSettledEstimate<Body, Estimate>(
  key: readonly string[],
  body: Body | null,
  milliseconds: number,
  ask: (body: Body, signal: AbortSignal) => Promise<Estimate>,
) {
  const text = body === null ? null : JSON.stringify(body);
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), milliseconds);
    return () => clearTimeout(timer);
  }, [text, milliseconds]);
  const query = useQuery({
    queryKey: [...key, settled],
    queryFn: ({ signal }) => ask(JSON.parse(settled ?? '{}') as Body, signal),
    enabled: settled !== null && settled === text,
    placeholderData: keepPreviousData,
    retry: (failures, error) => !(error instanceof ApiError) && failures < 2,
  });
  return { ...query, waiting: settled !== text || query.isFetching };
}
