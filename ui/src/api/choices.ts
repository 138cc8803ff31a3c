import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { answer, api, ApiError, type Schemas } from './client';

/** As many as a menu offers. */
export const MANY = 200;

/** What forms choose from: the project's own, its agents, suites and optimizers. */
export function useProject() {
  return useQuery({
    queryKey: ['project'],
    queryFn: () => answer(api.GET('/v1/private/project')),
  });
}

/** The models that requests may name, each with whether its key or file is there, and its price. */
export function useModels() {
  return useQuery({
    queryKey: ['models'],
    queryFn: () => answer(api.GET('/v1/private/models')),
    staleTime: 30_000,
  });
}

/** The same for one that is not in the list. */
export function useModelCheck(name: string) {
  return useQuery({
    queryKey: ['models', name],
    queryFn: () => answer(api.GET('/v1/private/models/check', { params: { query: { name } } })),
    enabled: name !== '',
    staleTime: 30_000,
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

export interface Subjects {
  project: Schemas['Project'];
  /** What a form begins with: the project's own, else the first that there is. */
  agent: string;
  suite: string;
  agents: readonly string[];
  suites: readonly string[];
}

/** The agents and suites that a run or an evaluation can name. */
export function useSubjects() {
  const [project, agents, suites] = [useProject(), useAgentNames(), useSuites()];
  const all = [project, agents, suites];
  const names = (own: string | null, listed: readonly { name: string }[]) => [
    ...new Set([...(own === null ? [] : [own]), ...listed.map((one) => one.name)]),
  ];
  let data: Subjects | undefined;
  if (project.data && agents.data && suites.data) {
    const known = names(project.data.agent, agents.data.items);
    const judged = names(project.data.suite, suites.data.items);
    const [agent = '', suite = ''] = [known[0], judged[0]];
    data = { project: project.data, agent, suite, agents: known, suites: judged };
  }
  return {
    data,
    error: all.map((one) => one.error).find((error) => error !== null) ?? null,
    refetch: () => all.forEach((one) => void one.refetch()),
  };
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
