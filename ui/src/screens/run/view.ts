import type { Schemas } from '@/api/client';
import type { RunEvent } from '@/live/useStream';

export type RunView = Schemas['OptimizationView'];

/** Whether it may still change by itself. */
export function isOpen(run: RunView): boolean {
  return run.status === 'running' || run.status === 'initialized';
}

const number = (value: unknown): number | null => (typeof value === 'number' ? value : null);

/** A run whose status an event tells: somebody has just worked on it. */
export function withStatus<Run extends Pick<RunView, 'status' | 'state' | 'owned'>>(
  run: Run,
  told: unknown,
): Run {
  const status = (told as RunView['status'] | undefined) ?? run.status;
  return { ...run, status, state: status, owned: status === 'running' };
}

/** A run after an event: what the event itself says, until the snapshot is read again. */
export function patchedRun(run: RunView, event: RunEvent): RunView {
  if (event.optimization_id !== run.optimization_id) return run;
  const { payload } = event;
  switch (event.type) {
    case 'run_status_changed':
      return withStatus(run, payload.status);
    case 'run_finished':
      return {
        ...withStatus(run, payload.status),
        stop_reason: typeof payload.stop_reason === 'string' ? payload.stop_reason : null,
      };
    case 'progress_changed':
      return withProgress(run, payload);
    case 'best_candidate_changed':
      return {
        ...run,
        best_score: number(payload.score) ?? run.best_score,
        best_candidate_id: String(payload.candidate_id ?? run.best_candidate_id),
      };
    default:
      return run;
  }
}

function withProgress(run: RunView, payload: Record<string, unknown>): RunView {
  const { counters, budget } = run;
  const evaluations = number(payload.evaluations);
  return {
    ...run,
    counters: {
      ...counters,
      ...counted(payload),
    },
    budget: evaluations === null ? budget : spent(budget, evaluations),
  };
}

const COUNTED = [
  'proposed',
  'running',
  'completed',
  'pruned',
  'failed',
  'cancelled',
  'rejected',
] as const;

/** The counters of an event, which are those of the snapshot; one of an older run has fewer. */
function counted(payload: Record<string, unknown>): Partial<RunView['counters']> {
  // Older events count the baseline among the completed, and cancelled trials among the failed.
  const names = number(payload.cancelled) === null ? (['running', 'rejected'] as const) : COUNTED;
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = number(payload[name]);
      return value === null ? [] : [[name, value]];
    }),
  );
}

function spent(budget: RunView['budget'], evaluations: number): RunView['budget'] {
  const limit = budget.limits.evaluations;
  return {
    ...budget,
    used: { ...budget.used, evaluations },
    left: {
      ...budget.left,
      evaluations: limit === null ? null : Math.max(0, limit - evaluations),
    },
  };
}

export type RunAction = 'start' | 'resume' | 'again' | 'stop' | 'duplicate' | 'report';

/** What can be done with a run. A stopped one is over: its copy goes on with what is there. */
export function actionsOf(run: RunView): RunAction[] {
  // Only the program that started it can run it.
  if (run.by_client || run.python_call) return run.status === 'initialized' ? ['stop'] : open(run);
  switch (run.status) {
    case 'initialized':
      return ['start', 'stop', 'duplicate'];
    case 'running':
      return run.owned
        ? ['stop', 'duplicate', 'report']
        : ['resume', 'stop', 'duplicate', 'report'];
    case 'failed':
      return ['resume', 'duplicate', 'report'];
    case 'cancelled':
      return ['again', 'duplicate', 'report'];
    default:
      return ['duplicate', 'report'];
  }
}

function open(run: RunView): RunAction[] {
  return run.status === 'running' ? ['stop', 'report'] : ['report'];
}

export const TABS = ['score', 'lineage', 'trials', 'pareto', 'rejections', 'events'] as const;
export type RunTab = (typeof TABS)[number] | 'compression';

/** The tab that an address asks for, if this run has it. */
export function tabOf(text: string, compression: boolean): RunTab {
  if (text === 'compression' && compression) return 'compression';
  return TABS.find((tab) => tab === text) ?? (compression && text === '' ? 'compression' : 'score');
}
