import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useMemo } from 'react';
import { Link } from 'wouter';
import { answer, api } from '@/api/client';
import { Card } from '@/components/Card';
import { Empty, Loaded } from '@/components/States';
import { Time } from '@/components/Time';
import type { RunEvent } from '@/live/useStream';
import { useAddress } from '@/lib/address';
import { count, score } from '@/lib/format';

const PAGE = 100;
const POLL_MS = 3_000;

/** All that happened, the newest first; new events come by themselves. */
export default function EventsPanel({
  runId,
  live,
  polling,
}: {
  runId: string;
  live: readonly RunEvent[];
  polling: boolean;
}) {
  const address = useAddress();
  const asked = address.get('event');
  const type = EVENT_TYPES.find((one) => one === asked) ?? null;
  const query = useLog(runId, type, polling);
  const logged = useMemo(() => query.data?.pages.flatMap((page) => page.items) ?? [], [query.data]);
  const events = joined(
    logged,
    live.filter((event) => type === null || event.type === type),
  );
  const gap = type === null && hasGap(logged, live);
  const fill = useEffectEvent(() => void query.refetch());
  useEffect(() => {
    if (gap) fill();
  }, [gap]);
  return (
    <Card
      title="Events"
      flush
      actions={
        <select
          className="select"
          aria-label="Which events"
          value={type ?? ''}
          onChange={(change) => address.set({ event: change.target.value })}
        >
          <option value="">All events</option>
          {EVENT_TYPES.map((one) => (
            <option key={one} value={one}>
              {TYPE_WORDS[one]}
            </option>
          ))}
        </select>
      }
    >
      <Loaded query={query}>
        {() =>
          events.length === 0 ? (
            <Empty title="No events">
              {type === null
                ? 'Nothing has happened yet: events appear here once the run begins.'
                : `There is none of the kind “${TYPE_WORDS[type]}”. Choose all events to see the rest.`}
            </Empty>
          ) : (
            <>
              <ol className="run-events" reversed>
                {events.map((event) => (
                  <EventLine key={event.sequence} runId={runId} event={event} />
                ))}
              </ol>
              {query.hasNextPage && (
                <div className="run-more">
                  <button
                    type="button"
                    className="btn small"
                    disabled={query.isFetchingNextPage}
                    onClick={() => void query.fetchNextPage()}
                  >
                    Show older events
                  </button>
                </div>
              )}
            </>
          )
        }
      </Loaded>
    </Card>
  );
}

function useLog(runId: string, type: EventType | null, polling: boolean) {
  return useInfiniteQuery({
    queryKey: ['event-log', runId, type],
    queryFn: ({ pageParam, signal }) =>
      answer(
        api.GET('/v1/private/optimizations/{optimization_id}/event-log', {
          params: {
            path: { optimization_id: runId },
            query: {
              newest: true,
              limit: PAGE,
              cursor: pageParam,
              ...(type !== null && { type: [type] }),
            },
          },
          signal,
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval: polling ? POLL_MS : false,
  });
}

function EventLine({ runId, event }: { runId: string; event: LoggedEvent }) {
  const candidate = event.payload.candidate_id;
  const words = eventWords(event);
  return (
    <li className="run-event" data-event={event.sequence}>
      <span className="muted mono small">#{event.sequence}</span>
      <span className="small">
        <Time at={event.created_at} />
      </span>
      <span>
        <span className={`badge ${event.type === 'best_candidate_changed' ? 'good' : ''}`}>
          {typeWords(event.type)}
        </span>
      </span>
      <span>
        {typeof candidate === 'string' ? (
          <Link href={`/runs/${runId}/candidates/${encodeURIComponent(candidate)}`}>{words}</Link>
        ) : (
          words
        )}
      </span>
    </li>
  );
}

interface LoggedEvent {
  sequence: number;
  type: string;
  created_at: string;
  payload: Record<string, unknown>;
}

const EVENT_TYPES = [
  'run_status_changed',
  'progress_changed',
  'trial_added_or_updated',
  'best_candidate_changed',
  'run_finished',
] as const;
type EventType = (typeof EVENT_TYPES)[number];

const TYPE_WORDS: Record<EventType, string> = {
  run_status_changed: 'Status',
  progress_changed: 'Progress',
  trial_added_or_updated: 'Trials',
  best_candidate_changed: 'New best',
  run_finished: 'End',
};

function typeWords(type: string): string {
  return TYPE_WORDS[type as EventType] ?? type.replace(/_/g, ' ');
}

const PROGRESS = [
  'proposed',
  'running',
  'completed',
  'pruned',
  'failed',
  'cancelled',
  'rejected',
  'evaluations',
];

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
  // Events of older versions call it by its other name.
  const reached = payload.score ?? payload.objective_score;
  const result = typeof reached === 'number' ? `, ${scored(reached)}` : '';
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
  const newest = logged[0]?.sequence ?? 0;
  const fresh = live
    .filter((event) => event.sequence > newest)
    .sort((a, b) => b.sequence - a.sequence);
  return [...fresh, ...logged];
}

/** Whether events are missing between the log and the live ones. */
export function hasGap(logged: readonly LoggedEvent[], live: readonly LoggedEvent[]): boolean {
  const newest = logged[0]?.sequence;
  const first = live[0]?.sequence;
  return newest !== undefined && first !== undefined && first > newest + 1;
}
