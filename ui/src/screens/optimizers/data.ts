import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { answer, api, ApiError, type Schemas } from '@/api/client';
import type { ConfigBody } from './form';

export type Config = Schemas['OptimizerView'];
export type PastRun = Schemas['RunView'];
const MANY = 200;
const TYPING_MS = 500;

export function useAgents() {
  return useQuery({
    queryKey: ['agents', 'names'],
    queryFn: () => answer(api.GET('/v1/private/agents', { params: { query: { limit: MANY } } })),
  });
}

async function configsOf(agent: string): Promise<Config[]> {
  const page = await answer(
    api.GET('/planar/v1/agents/{agent}/optimizers/', {
      params: { path: { agent }, query: { limit: MANY } },
    }),
  );
  return page.items;
}

/** The optimizers of all agents, as one list. */
export function useConfigs() {
  const agents = useAgents();
  const names = agents.data?.items.map((agent) => agent.name) ?? [];
  return useQueries({
    queries: names.map((agent) => ({
      queryKey: ['configs', agent],
      queryFn: () => configsOf(agent),
    })),
    combine: (results) => ({
      agents,
      data:
        agents.data && results.every((one) => one.data)
          ? results.flatMap((one) => one.data ?? [])
          : undefined,
      error: agents.error ?? results.find((one) => one.error)?.error ?? null,
      refetch: () => Promise.all([agents.refetch(), ...results.map((one) => one.refetch())]),
    }),
  });
}

export function useConfig(agent: string, name: string) {
  return useQuery({
    queryKey: ['configs', agent, name],
    queryFn: () =>
      answer(
        api.GET('/planar/v1/agents/{agent}/optimizers/{name}', {
          params: { path: { agent, name } },
        }),
      ),
  });
}

export function useVersions(agent: string, name: string) {
  return useQuery({
    queryKey: ['configs', agent, name, 'versions'],
    queryFn: () =>
      answer(
        api.GET('/planar/v1/agents/{agent}/optimizers/{name}/versions', {
          params: { path: { agent, name }, query: { limit: MANY } },
        }),
      ),
  });
}

export function usePastRuns(agent: string, name: string, limit: number) {
  return useQuery({
    queryKey: ['configs', agent, name, 'runs', limit],
    queryFn: () =>
      answer(
        api.GET('/planar/v1/agents/{agent}/optimizers/{name}/runs', {
          params: { path: { agent, name }, query: { limit } },
        }),
      ),
    refetchInterval: (asked) =>
      asked.state.data?.items.some((run) => ['pending', 'running'].includes(run.status))
        ? 3_000
        : 30_000,
  });
}

export function useChoices() {
  const project = useQuery({
    queryKey: ['project'],
    queryFn: () => answer(api.GET('/v1/private/project')),
  });
  const kinds = useQuery({
    queryKey: ['optimizers'],
    queryFn: () => answer(api.GET('/v1/private/optimizers')),
    staleTime: 60_000,
  });
  const suites = useQuery({
    queryKey: ['suites'],
    queryFn: () => answer(api.GET('/v1/private/suites', { params: { query: { limit: MANY } } })),
  });
  return { project, kinds, suites };
}

/** What a run of it would do and cost, once nobody types any more. It checks the whole form, too. */
export function useConfigEstimate(agent: string, body: ConfigBody | null) {
  const text = body === null ? null : JSON.stringify(body);
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const query = useQuery({
    queryKey: ['config-estimate', agent, settled],
    queryFn: ({ signal }) =>
      answer(
        api.POST('/planar/v1/agents/{agent}/optimizers/estimate', {
          params: { path: { agent } },
          body: JSON.parse(settled ?? '{}') as never,
          signal,
        }),
      ),
    enabled: settled !== null && settled === text,
    placeholderData: keepPreviousData,
    retry: (failures, error) => !(error instanceof ApiError) && failures < 2,
  });
  return { ...query, waiting: settled !== text || query.isFetching };
}
