import { useEffect, useEffectEvent, useRef, useState, useSyncExternalStore } from 'react';
import { EventStream, type Mode } from './stream';

/** One event of a run, as `data:` has it. */
export interface RunEvent {
  optimization_id: string;
  sequence: number;
  type:
    | 'run_status_changed'
    | 'progress_changed'
    | 'trial_added_or_updated'
    | 'best_candidate_changed'
    | 'run_finished';
  created_at: string;
  payload: Record<string, unknown>;
}

export interface Following {
  /** Null as long as there is nothing to follow. */
  url: string | null;
  /** Known once the snapshot is there. */
  from: string | null;
  onEvent(event: RunEvent): void;
  onReload(): Promise<string>;
}

/** Whether nobody sees the page. A browser has few connections a server: hidden tabs hold none. */
export function useHidden(): boolean {
  return useSyncExternalStore(
    (changed) => {
      document.addEventListener('visibilitychange', changed);
      return () => document.removeEventListener('visibilitychange', changed);
    },
    () => document.hidden,
  );
}

/** Follows a stream of runs while the component is there; says how fresh the page is. */
export function useStream({ url, from, onEvent, onReload }: Following): Mode {
  const [mode, setMode] = useState<Mode>('connecting');
  const ready = from !== null;
  const tell = useEffectEvent((data: string) => onEvent(JSON.parse(data) as RunEvent));
  const reload = useEffectEvent(() => onReload());
  const hidden = useHidden();
  // Where a stream of this address was left when the tab was hidden.
  const left = useRef({ url, place: '' });
  const start = useEffectEvent(() =>
    left.current.url === url && left.current.place !== '' ? left.current.place : (from ?? ''),
  );

  useEffect(() => {
    if (url === null || !ready || hidden) return;
    const stream = new EventStream({
      url,
      from: start(),
      onEvent: (event) => tell(event.data),
      onReload: () => reload(),
      onMode: setMode,
    });
    void stream.run();
    return () => {
      stream.stop();
      left.current = { url, place: stream.reached };
    };
  }, [url, ready, hidden]);

  return url === null ? 'ended' : mode;
}
