import { Badge } from '@/components/Status';
import type { ImageRun } from '../types';

const TONES = {
  queued: '',
  planning: 'info',
  generating: 'info',
  evaluating: 'info',
  refining: 'info',
  completed: 'good',
  completed_degraded: 'warn',
  failed: 'bad',
  cancelled: 'warn',
} as const;

/** A run's state in a word; one with fallbacks is `degraded`. */
export function RunStatusBadge({ run }: { run: Pick<ImageRun, 'status' | 'degraded'> }) {
  const tone = TONES[run.status];
  return (
    <span className="row">
      <Badge tone={tone} pulse={tone === 'info'} data-status={run.status}>
        {run.status === 'completed_degraded' ? 'completed' : run.status}
      </Badge>
      {run.degraded && (
        <span className="badge warn" data-chip="degraded" title="Parts of it are fallbacks">
          degraded
        </span>
      )}
    </span>
  );
}
