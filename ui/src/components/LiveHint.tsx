import { Badge } from './Status';
import type { Mode } from '@/live/stream';

const SAYS: Record<Mode, string> = {
  connecting: 'Connecting…',
  live: 'Live',
  polling: 'No live connection: asking every few seconds',
  ended: '',
};

/** How fresh the page is. */
export function LiveHint({ mode }: { mode: Mode }) {
  if (mode === 'ended') return null;
  const tone = { live: 'good', connecting: '', polling: 'warn' } as const;
  return (
    <Badge tone={tone[mode]} pulse={mode === 'live'} role="status" data-live={mode}>
      {SAYS[mode]}
    </Badge>
  );
}

/** The same where there is no stream, and what runs is asked for again. */
export function PollingHint({
  active,
  failing,
  every,
}: {
  active: boolean;
  failing: boolean;
  /** In milliseconds. */
  every: number;
}) {
  if (failing)
    return (
      <Badge tone="warn" role="status" data-live="lost">
        The server does not answer: trying again
      </Badge>
    );
  if (!active) return null;
  return (
    <Badge tone="good" pulse role="status" data-live="polling">
      {`Refreshed every ${every / 1000} s`}
    </Badge>
  );
}
