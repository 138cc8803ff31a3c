import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useState } from 'react';
import { answer } from '@/api/client';
import { say } from '@/components/shell/Toasts';
import { EventStream, type Mode } from '@/live/stream';
import { images } from '../client';
import { lookAgain } from '../data';
import { poll, STILL_RUNNING } from './polling';
import { endMessage, hasEnded } from './stages';
import type { ImageRun } from '../types';

/**
 * A run while it goes on: by events, and by asking where no events get through, which ends after a
 * while. `left` says that it was left to itself; `lookOn` asks again.
 */
export function useImageRun(id: string | null) {
  const cache = useQueryClient();
  const query = useQuery({
    queryKey: ['image-run', id],
    queryFn: ({ signal }): Promise<ImageRun> =>
      answer(images.GET('/eval-runs/{run_id}', { params: { path: { run_id: id ?? '' } }, signal })),
    enabled: id !== null,
  });
  const run = query.data;
  const open = run !== undefined && !hasEnded(run);
  const [leftRun, setLeftRun] = useState<string | null>(null);
  const take = (fresh: ImageRun) => {
    cache.setQueryData<ImageRun>(['image-run', fresh.run_id], (before) =>
      before && before.revision > fresh.revision ? before : fresh,
    );
  };
  const mode = useRunStream(open ? run : null, take);
  // A stream that came through meanwhile tells of it again.
  const left = open && leftRun === id && mode === 'polling';
  const ask = useEffectEvent(async () => {
    const fresh = await query.refetch({ cancelRefetch: false });
    if (!fresh.data) throw fresh.error ?? new Error('no answer');
    return fresh.data;
  });
  const giveUp = useEffectEvent(() => {
    setLeftRun(id);
    if (!document.hidden) say(STILL_RUNNING, 'info');
  });
  const polls = open && !left && mode === 'polling';
  useEffect(() => {
    if (!polls) return;
    const stopper = new AbortController();
    void poll({ ask: () => ask(), ended: hasEnded, signal: stopper.signal }).then((outcome) => {
      if (outcome === 'still running') giveUp();
    });
    return () => stopper.abort();
  }, [polls]);
  useEnd(run, (ended) => {
    const { text, tone } = endMessage(ended);
    say(text, tone);
    lookAgain(cache, ended.project_id);
  });
  return { query, run, mode, left, lookOn: () => setLeftRun(null) };
}

/** Every state of the run as the server tells it. */
function useRunStream(run: ImageRun | null, onRun: (run: ImageRun) => void): Mode {
  const [mode, setMode] = useState<Mode>('connecting');
  const id = run?.run_id ?? null;
  const tell = useEffectEvent((data: string) => onRun(JSON.parse(data) as ImageRun));
  const place = useEffectEvent(() => String(run?.revision ?? 0));
  useEffect(() => {
    if (id === null) return;
    const stream = new EventStream({
      url: `/eval-runs/${encodeURIComponent(id)}/events`,
      from: place(),
      onEvent: (event) => {
        if (event.event === 'run') tell(event.data);
      },
      onReload: async () => place(),
      onMode: setMode,
    });
    void stream.run();
    return () => stream.stop();
  }, [id]);
  return id === null ? 'ended' : mode;
}

/** Tells once when a run ends that was seen going on. */
function useEnd(run: ImageRun | undefined, onEnd: (run: ImageRun) => void): void {
  const [watched, setWatched] = useState<string | null>(null);
  if (run && !hasEnded(run) && watched !== run.run_id) setWatched(run.run_id);
  const tell = useEffectEvent(onEnd);
  const ended = run && hasEnded(run) && watched === run.run_id ? run : null;
  useEffect(() => {
    if (ended) tell(ended);
    // By its id: what else changes in a run that ended is no second end.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [ended?.run_id]);
}
