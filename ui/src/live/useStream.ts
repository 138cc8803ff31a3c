import { useEffect, useEffectEvent, useState } from 'react';
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

/** Follows a stream of runs while the component is there; says how fresh the page is. */
export function useStream({ url, from, onEvent, onReload }: Following): Mode {
  const [mode, setMode] = useState<Mode>('connecting');
  const ready = from !== null;
  const tell = useEffectEvent((data: string) => onEvent(JSON.parse(data) as RunEvent));
  const reload = useEffectEvent(() => onReload());
  const start = useEffectEvent(() => from ?? '');

  useEffect(() => {
    if (url === null || !ready) return;
    const stream = new EventStream({
      url,
      from: start(),
      onEvent: (event) => tell(event.data),
      onReload: () => reload(),
      onMode: setMode,
    });
    void stream.run();
    return () => stream.stop();
  }, [url, ready]);

  return url === null ? 'ended' : mode;
}
