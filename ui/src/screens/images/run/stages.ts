import type { ImageRun, RunStatus } from '../types';

const ENDED: ReadonlySet<string> = new Set<RunStatus>([
  'completed',
  'completed_degraded',
  'failed',
  'cancelled',
]);

/** The stages a run goes through, in their order. */
export const STAGES = ['queued', 'planning', 'generating', 'evaluating', 'refining'] as const;

export function hasEnded(run: Pick<ImageRun, 'status'>): boolean {
  return ENDED.has(run.status);
}

/** What is told once when a run ends before one's eyes. */
export function endMessage(run: ImageRun): { text: string; tone: 'good' | 'info' | 'bad' } {
  if (run.status === 'completed') return { text: 'The run is complete.', tone: 'good' };
  if (run.status === 'completed_degraded')
    return { text: 'The run is complete; parts of it are fallbacks.', tone: 'info' };
  if (run.status === 'cancelled') return { text: 'The run was cancelled.', tone: 'info' };
  return { text: `The run failed: ${run.error?.message ?? 'no reason was given'}`, tone: 'bad' };
}
