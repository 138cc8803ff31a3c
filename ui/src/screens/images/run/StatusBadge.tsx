import type { ImageRun } from '../types';

const TONES: Record<ImageRun['status'], string> = {
  queued: '',
  planning: 'info',
  generating: 'info',
  evaluating: 'info',
  refining: 'info',
  completed: 'good',
  completed_degraded: 'warn',
  failed: 'bad',
  cancelled: 'warn',
};

/** A run's state in a word; one with fallbacks is `degraded`. */
export function RunStatusBadge({ run }: { run: Pick<ImageRun, 'status' | 'degraded'> }) {
  const degraded = run.status === 'completed_degraded';
  return (
    <span className="row">
      <span className={`badge ${TONES[run.status]}`} data-status={run.status}>
        <span className={`dot ${TONES[run.status] === 'info' ? 'pulse' : ''}`} aria-hidden="true" />
        {degraded ? 'completed' : run.status}
      </span>
      {run.degraded && (
        <span className="badge warn" data-chip="degraded" title="Parts of it are fallbacks">
          degraded
        </span>
      )}
    </span>
  );
}
