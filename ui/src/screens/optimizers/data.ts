import { useQueries, useQuery } from '@tanstack/react-query';
import { MANY, useAgentNames, useSettledEstimate } from '@/api/choices';
import { answer, api, type Schemas } from '@/api/client';
import type { ConfigBody } from './form';

export type Config = Schemas['OptimizerView'];
export type PastRun = Schemas['RunView'];
const TYPING_MS = 500;

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
  const agents = useAgentNames();
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

/** What a run of it would do and cost. */
export function useConfigEstimate(agent: string, body: ConfigBody | null) {
  return useSettledEstimate(['config-estimate', agent], body, TYPING_MS, (asked, signal) =>
    answer(
      api.POST('/planar/v1/agents/{agent}/optimizers/estimate', {
        params: { path: { agent } },
        body: asked as never,
        signal,
      }),
    ),
  );
}
