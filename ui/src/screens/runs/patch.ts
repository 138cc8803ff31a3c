import type { RunEvent } from '@/live/useStream';
import type { RunLine, RunStatus } from './filters';

/** At most so many runs share one stream. */
const FOLLOWED = 100;

/** The runs whose events are wanted, in an order that does not change with the list's. */
export function followed(lines: readonly RunLine[]): string[] {
  const running = lines.filter((line) => line.status === 'running' || line.owned);
  return running
    .slice(0, FOLLOWED)
    .map((line) => line.optimization_id)
    .sort();
}

/** A line after an event: what the event itself says, until the list is read again. */
export function patched(line: RunLine, event: RunEvent): RunLine {
  if (event.optimization_id !== line.optimization_id) return line;
  const { payload } = event;
  switch (event.type) {
    case 'run_status_changed':
    case 'run_finished':
      return { ...line, status: (payload.status as RunStatus | undefined) ?? line.status };
    case 'best_candidate_changed':
      return withBest(line, payload);
    default:
      return line;
  }
}

function withBest(line: RunLine, payload: Record<string, unknown>): RunLine {
  const score = typeof payload.score === 'number' ? payload.score : null;
  if (score === null) return line;
  const delta = line.baseline_score === null ? null : score - line.baseline_score;
  return {
    ...line,
    best_score: score,
    best_candidate_id: String(payload.candidate_id ?? line.best_candidate_id),
    change:
      delta === null
        ? line.change
        : { delta, ci_low: null, ci_high: null, p_value: null, held_out: false, items: null },
  };
}
