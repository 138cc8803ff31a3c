import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useMemo } from 'react';
import { Link } from 'wouter';
import { answer, api } from '@/api/client';
import { Card } from '@/components/Card';
import { Empty, Loaded } from '@/components/States';
import { Time } from '@/components/Time';
import type { RunEvent } from '@/live/useStream';
import { useAddress } from '@/lib/address';
import {
  EVENT_TYPES,
  eventWords,
  hasGap,
  joined,
  TYPE_WORDS,
  typeWords,
  type EventType,
  type LoggedEvent,
} from './eventWords';

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
  const fresh = useMemo(() => live.map(asLogged), [live]);
  const events = joined(
    logged,
    fresh.filter((event) => type === null || event.type === type),
  );
  const gap = type === null && hasGap(logged, fresh);
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
                  <EventLine key={event.id} runId={runId} event={event} />
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

function asLogged(event: RunEvent): LoggedEvent {
  return { ...event, id: event.sequence };
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
    <li className="run-event" data-event={event.id}>
      <span className="muted mono small">#{event.id}</span>
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
