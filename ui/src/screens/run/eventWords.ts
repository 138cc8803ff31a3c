import { count, score } from '@/lib/format';

export interface LoggedEvent {
  id: number;
  type: string;
  created_at: string;
  payload: Record<string, unknown>;
}

export const EVENT_TYPES = [
  'run_status_changed',
  'progress_changed',
  'trial_added_or_updated',
  'best_candidate_changed',
  'run_finished',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

export const TYPE_WORDS: Record<EventType, string> = {
  run_status_changed: 'Status',
  progress_changed: 'Progress',
  trial_added_or_updated: 'Trials',
  best_candidate_changed: 'New best',
  run_finished: 'End',
};

export function typeWords(type: string): string {
  return TYPE_WORDS[type as EventType] ?? type.replace(/_/g, ' ');
}

const PROGRESS = ['proposed', 'running', 'completed', 'failed', 'rejected', 'evaluations'];

/** What happened, in a line. */
export function eventWords({ type, payload }: LoggedEvent): string {
  switch (type) {
    case 'run_status_changed':
      return `The run is ${String(payload.status)}`;
    case 'progress_changed':
      return progressWords(payload);
    case 'trial_added_or_updated':
      return trialWords(payload);
    case 'best_candidate_changed':
      return `${candidateWords(payload)} is the best, with ${scored(payload.score)}`;
    case 'run_finished': {
      const reason = payload.stop_reason ? `, because of: ${String(payload.stop_reason)}` : '';
      return `It ended as ${String(payload.status)}${reason.replace(/_/g, ' ')}`;
    }
    default:
      return JSON.stringify(payload);
  }
}

function progressWords(payload: Record<string, unknown>): string {
  const said = PROGRESS.filter((name) => typeof payload[name] === 'number').map(
    (name) => `${count(payload[name] as number)} ${name}`,
  );
  return said.length > 0 ? said.join(' · ') : 'A sign of life';
}

function trialWords(payload: Record<string, unknown>): string {
  const what = payload.type === 'trial' ? '' : ` on a ${String(payload.type).replace(/_/g, '-')}`;
  const result =
    typeof payload.objective_score === 'number' ? `, ${scored(payload.objective_score)}` : '';
  return `${candidateWords(payload)}${what}: ${String(payload.status)}${result}`;
}

/** Candidates are named by their number, which is also how their id ends. */
function candidateWords(payload: Record<string, unknown>): string {
  const id = String(payload.candidate_id ?? '');
  const number = typeof payload.number === 'number' ? payload.number : /-(\d+)$/.exec(id)?.[1];
  if (Number(number) === 0) return 'The baseline';
  return `Candidate ${number ?? id}`;
}

function scored(value: unknown): string {
  return typeof value === 'number' ? `score ${score(value)}` : 'no score';
}

/** The log and what came live since, the newest first, each event once. */
export function joined(
  logged: readonly LoggedEvent[],
  live: readonly LoggedEvent[],
): LoggedEvent[] {
  const newest = logged[0]?.id ?? 0;
  const fresh = live.filter((event) => event.id > newest).sort((a, b) => b.id - a.id);
  return [...fresh, ...logged];
}

/** Whether events are missing between the log and the live ones. */
export function hasGap(logged: readonly LoggedEvent[], live: readonly LoggedEvent[]): boolean {
  const newest = logged[0]?.id;
  const first = live[0]?.id;
  return newest !== undefined && first !== undefined && first > newest + 1;
}
