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

const SAYS: Record<RunStatus, string> = {
  queued: 'Waiting for its turn',
  planning: 'Planning variants',
  generating: 'Generating images',
  evaluating: 'Scoring images',
  refining: 'Drafting suggestions',
  completed: 'Ranked, with three suggestions',
  completed_degraded: 'Ranked, with fallbacks where something failed',
  failed: 'Failed',
  cancelled: 'Cancelled',
};

/** What the run does now, in words. */
export function stageMessage(
  run: Pick<ImageRun, 'status' | 'progress' | 'cancel_requested'>,
): string {
  const {
    total_variants: total,
    generated_variants: made,
    evaluated_variants: judged,
  } = run.progress;
  if (run.cancel_requested && !hasEnded(run)) return 'Stopping, as was asked';
  const says = SAYS[run.status];
  if (run.status === 'generating') return `${says}: ${made} of ${total}`;
  if (run.status === 'evaluating') return `${says}: ${judged} of ${total}`;
  return says;
}

/**
 * How far it is: each stage has its part of the bar, whatever the time it takes. A variant that
 * failed is behind us too.
 */
export function percentOf(run: Pick<ImageRun, 'status' | 'progress'>): number {
  const { progress } = run;
  const total = progress.total_variants;
  const share = (done: number) =>
    total > 0 ? Math.min(1, (done + progress.failed_variants) / total) : 0;
  if (hasEnded(run)) return 100;
  switch (run.status) {
    case 'planning':
      return 10;
    case 'generating':
      return 15 + share(progress.generated_variants) * 35;
    case 'evaluating':
      return 50 + share(progress.evaluated_variants) * 35;
    case 'refining':
      return 92;
    default:
      return 0;
  }
}

/** What is told once when a run ends before one's eyes. */
export function endMessage(run: ImageRun): { text: string; tone: 'good' | 'info' | 'bad' } {
  if (run.status === 'completed') return { text: 'The run is complete.', tone: 'good' };
  if (run.status === 'completed_degraded')
    return { text: 'The run is complete; parts of it are fallbacks.', tone: 'info' };
  if (run.status === 'cancelled') return { text: 'The run was cancelled.', tone: 'info' };
  return { text: `The run failed: ${run.error?.message ?? 'no reason was given'}`, tone: 'bad' };
}
