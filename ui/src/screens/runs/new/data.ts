import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { answer, api, ApiError } from '@/api/client';
import type { NewRunBody } from './form';

const TYPING_MS = 400;
const MANY = 200;

export function useChoices() {
  const project = useQuery({
    queryKey: ['project'],
    queryFn: () => answer(api.GET('/v1/private/project')),
  });
  const agents = useQuery({
    queryKey: ['new-run', 'agents'],
    queryFn: () => answer(api.GET('/v1/private/agents', { params: { query: { limit: MANY } } })),
  });
  const suites = useQuery({
    queryKey: ['new-run', 'suites'],
    queryFn: () => answer(api.GET('/v1/private/suites', { params: { query: { limit: MANY } } })),
  });
  const kinds = useQuery({
    queryKey: ['optimizers'],
    queryFn: () => answer(api.GET('/v1/private/optimizers')),
    staleTime: 60_000,
  });
  return { project, agents, suites, kinds };
}

/** What it would run and cost; asked again once nobody types any more. It checks the request, too. */
export function useEstimate(body: NewRunBody | null) {
  const text = body === null ? null : JSON.stringify(body);
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const query = useQuery({
    queryKey: ['estimate', settled],
    queryFn: ({ signal }) =>
      answer(
        api.POST('/v1/private/optimizations/estimate', {
          body: JSON.parse(settled ?? '{}') as NewRunBody,
          signal,
        }),
      ),
    enabled: settled !== null && settled === text,
    placeholderData: keepPreviousData,
    retry: (failures, error) => !(error instanceof ApiError) && failures < 2,
  });
  return { ...query, waiting: settled !== text || query.isFetching };
}
