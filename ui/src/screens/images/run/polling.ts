/** Where no events get through, a run is asked for so often, and then left to itself. */
export const POLL_MS = 1200;
export const POLL_ATTEMPTS = 90;

export const STILL_RUNNING =
  'The run goes on in the background. Come back to this page, or look again, to see its end.';

export type Outcome = 'ended' | 'still running' | 'stopped';

export interface Polling<Seen> {
  ask(): Promise<Seen>;
  ended(seen: Seen): boolean;
  signal: AbortSignal;
  wait?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** Asks until it has ended, at most `POLL_ATTEMPTS` times; an answer that fails is one of them. */
export async function poll<Seen>({
  ask,
  ended,
  signal,
  wait = pause,
}: Polling<Seen>): Promise<Outcome> {
  for (let attempt = 0; attempt < POLL_ATTEMPTS; attempt++) {
    await wait(POLL_MS, signal);
    if (signal.aborted) return 'stopped';
    const seen = await ask().catch(() => null);
    if (signal.aborted) return 'stopped';
    if (seen !== null && ended(seen)) return 'ended';
  }
  return 'still running';
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
