import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { answer, api, type Schemas } from '@/api/client';

export type AgentView = Schemas['AgentView'];
export type VersionLine = Schemas['VersionLine'];

const PAGE = 50;

export function useAgents() {
  return useInfiniteQuery({
    queryKey: ['agents'],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) =>
      answer(
        api.GET('/v1/private/agents', {
          params: { query: { limit: PAGE, ...(pageParam ? { cursor: pageParam } : {}) } },
        }),
      ),
    getNextPageParam: (page) => page.next_cursor,
  });
}

export function agentQuery(agent: string) {
  return {
    queryKey: ['agent', agent],
    queryFn: () => answer(api.GET('/v1/private/agents/{agent}', { params: { path: { agent } } })),
  };
}

/** The newest version: when the agent last changed, and by whom. */
export function lastVersionQuery(agent: string) {
  return {
    queryKey: ['agent', agent, 'last'],
    queryFn: async () => {
      const page = await answer(
        api.GET('/v1/private/agents/{agent}/versions', {
          params: { path: { agent }, query: { limit: 1 } },
        }),
      );
      return page.items[0] ?? null;
    },
  };
}

export function useVersions(agent: string) {
  return useInfiniteQuery({
    queryKey: ['agent', agent, 'versions'],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) =>
      answer(
        api.GET('/v1/private/agents/{agent}/versions', {
          params: {
            path: { agent },
            query: { limit: PAGE, ...(pageParam ? { cursor: pageParam } : {}) },
          },
        }),
      ),
    getNextPageParam: (page) => page.next_cursor,
  });
}

/** One version with its configuration; it never changes, so it is asked for once. */
export function useVersion(agent: string, version: number | null) {
  return useQuery({
    queryKey: ['agent', agent, 'version', version],
    queryFn: () =>
      answer(
        api.GET('/v1/private/agents/{agent}/versions/{version}', {
          params: { path: { agent, version: version ?? 0 } },
        }),
      ),
    enabled: version !== null,
    staleTime: Infinity,
  });
}

/** The name of a run, for a link. */
export function useRunName(runId: string | null) {
  return useQuery({
    queryKey: ['run', runId, 'name'],
    queryFn: async () => {
      const run = await answer(
        api.GET('/v1/private/optimizations/{optimization_id}', {
          params: { path: { optimization_id: runId ?? '' } },
        }),
      );
      return run.name;
    },
    enabled: runId !== null,
    staleTime: Infinity,
  });
}

/** A candidate's number within its run: people know it by that, not by its id. */
export function useCandidateNumber(runId: string | null, candidateId: string | null) {
  return useQuery({
    queryKey: ['run', runId, 'candidate', candidateId, 'number'],
    queryFn: async () => {
      const found = await answer(
        api.GET('/v1/private/optimizations/{optimization_id}/candidates/{candidate_id}', {
          params: { path: { optimization_id: runId ?? '', candidate_id: candidateId ?? '' } },
        }),
      );
      return found.number;
    },
    enabled: runId !== null && candidateId !== null,
    staleTime: Infinity,
  });
}
