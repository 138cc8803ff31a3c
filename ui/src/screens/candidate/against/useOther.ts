import { useQuery } from '@tanstack/react-query';
import { agentQuery, useVersion } from '@/screens/agents/data';
import { originOf } from '@/screens/agents/origin';
import { asConfiguration, type AgentConfiguration } from '@/lib/configurations';
import { againstOf, type Against } from './against';
import { useCandidate, type Experiment, type RunCandidate } from '../data';
import { mainExperiment } from '../roles';

/** What stands on the other side, whatever kind of thing it is. */
export interface Other {
  kind: Against['kind'];
  /** "candidate 3, the parent" */
  label: string;
  /** "Candidate 3" */
  title: string;
  /** "the parent (3)", where there is little room. */
  short: string;
  /** "parent", where there is hardly any. */
  tiny: string;
  /** What it is judged by, if it ran. */
  main: Experiment | null;
  configuration: AgentConfiguration | undefined;
  /** Where it ran in this run; null if it did not. */
  candidateId: string | null;
  sectionTokens: Record<string, number> | null;
  promptTokens: number | null;
  error: Error | null;
  refetch: () => unknown;
}

interface RunFacts {
  id: string;
  agent: string;
  baselineId: string | null;
  baseline: unknown;
}

export function useOther(run: RunFacts, candidate: RunCandidate, chosen: string): Other {
  const against = againstOf(chosen, candidate, run.baselineId);
  const found = useCandidate(run.id, against.kind === 'candidate' ? against.id : null);
  const agent = useQuery({ ...agentQuery(run.agent), enabled: against.kind === 'active' });
  const version = useVersion(
    run.agent,
    against.kind === 'active' ? (agent.data?.active_version ?? null) : null,
  );
  // A revert is equal to the version that it went back to, which may have run here.
  const first = originOf((version.data?.origin ?? {}) as Record<string, unknown>);
  const reverted = useVersion(run.agent, first.revertedTo);
  if (against.kind === 'candidate') {
    return {
      kind: 'candidate',
      ...namesOf(found.data, against.as),
      main: (found.data && mainExperiment(found.data.experiments)) ?? null,
      configuration: found.data && asConfiguration(found.data.configuration),
      candidateId: against.id,
      sectionTokens: found.data?.section_tokens ?? null,
      promptTokens: found.data?.prompt_tokens ?? null,
      error: found.error,
      refetch: found.refetch,
    };
  }
  if (against.kind === 'active') {
    const number = agent.data?.active_version ?? null;
    const label = number === null ? 'what is in use now' : `the active version ${number}`;
    return {
      kind: 'active',
      label,
      title: number === null ? 'In use now' : `Version ${number}`,
      short: number === null ? 'what is in use' : `version ${number}`,
      tiny: number === null ? 'in use' : `version ${number}`,
      main: null,
      configuration: agent.data && asConfiguration(agent.data.configuration),
      candidateId: ranHere(run, agent.data?.configuration, (reverted.data ?? version.data)?.origin),
      sectionTokens: null,
      promptTokens: null,
      error: agent.error,
      refetch: agent.refetch,
    };
  }
  return {
    kind: 'none',
    label: 'nothing',
    title: '',
    short: '',
    tiny: '',
    main: null,
    configuration: undefined,
    candidateId: null,
    sectionTokens: null,
    promptTokens: null,
    error: null,
    refetch: () => undefined,
  };
}

/** The active version may be a candidate of this very run, or what the run began with. */
function ranHere(run: RunFacts, active: unknown, origin: unknown): string | null {
  const from = originOf((origin ?? {}) as Record<string, unknown>);
  if (from.runId === run.id && from.candidateId !== null) return from.candidateId;
  if (active === undefined || run.baseline === null) return null;
  return JSON.stringify(active) === JSON.stringify(run.baseline) ? run.baselineId : null;
}

function namesOf(
  found: RunCandidate | undefined,
  as: 'parent' | 'baseline' | 'other',
): Pick<Other, 'label' | 'title' | 'short' | 'tiny'> {
  if (!found)
    return {
      label: 'another candidate',
      title: 'Other candidate',
      short: 'another',
      tiny: 'other',
    };
  if (found.baseline)
    return {
      label: 'the baseline',
      title: 'Baseline',
      short: 'the baseline',
      tiny: 'baseline',
    };
  const label = `candidate ${found.number}`;
  return as === 'parent'
    ? {
        label: `its parent, ${label}`,
        title: `Candidate ${found.number}`,
        short: `the parent (${found.number})`,
        tiny: 'parent',
      }
    : { label, title: `Candidate ${found.number}`, short: label, tiny: label };
}
