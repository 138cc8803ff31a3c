import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useState } from 'react';
import { answer, api } from '@/api/client';
import { useStream, type RunEvent } from '@/live/useStream';
import { useThrottled } from '@/live/useThrottled';
import { usePoints } from './points';
import { isOpen, patchedRun, type RunView } from './view';

const POLL_MS = 3_000;
const SNAPSHOT_MS = 2_000;
const POINTS_MS = 700;
/** What the log keeps of the live events; older ones are read from the server. */
const KEPT_EVENTS = 500;

/**
 * A run with its points: a snapshot first, then events; where there are no events, both are asked
 * for again and again.
 */
export function useRun(id: string) {
  const cache = useQueryClient();
  const query = useQuery({
    queryKey: ['run', id],
    queryFn: ({ signal }) =>
      answer(
        api.GET('/v1/private/optimizations/{optimization_id}', {
          params: { path: { optimization_id: id } },
          signal,
        }),
      ),
    // Somebody else may have resumed it meanwhile.
    refetchOnWindowFocus: true,
  });
  const run = query.data;
  const open = run !== undefined && isOpen(run);
  const [events, setEvents] = useState<readonly RunEvent[]>([]);
  const [polling, setPolling] = useState(false);
  const points = usePoints(id, { polling: polling && open });

  const snapshotSoon = useThrottled(
    () => void query.refetch({ cancelRefetch: false }),
    SNAPSHOT_MS,
  );
  const pointsSoon = useThrottled(() => void points.refresh(), POINTS_MS);
  const mode = useStream({
    url: open ? `/v1/private/optimizations/${encodeURIComponent(id)}/events` : null,
    from: run === undefined ? null : String(run.last_event_id),
    onEvent: (event) => {
      cache.setQueryData<RunView>(['run', id], (before) => before && patchedRun(before, event));
      setEvents((before) => [...before, event].slice(-KEPT_EVENTS));
      snapshotSoon();
      pointsSoon();
    },
    onReload: async () => {
      const fresh = await query.refetch();
      // Another database perhaps: what was there before is not to be trusted.
      await cache.resetQueries({ queryKey: ['points', id] });
      setEvents([]);
      return String(fresh.data?.last_event_id ?? 0);
    },
  });
  if (polling !== (mode === 'polling')) setPolling(mode === 'polling');
  useEvery(polling && open ? POLL_MS : null, () => void query.refetch({ cancelRefetch: false }));
  return { query, points: points.query, events, mode };
}

function useEvery(milliseconds: number | null, act: () => void): void {
  const now = useEffectEvent(act);
  useEffect(() => {
    if (milliseconds === null) return;
    const timer = setInterval(() => now(), milliseconds);
    return () => clearInterval(timer);
  }, [milliseconds]);
}
