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
  const tone = { live: 'good', connecting: '', polling: 'warn' }[mode];
  return (
    <span className={`badge ${tone}`} role="status" data-live={mode}>
      <span className={`dot ${mode === 'live' ? 'pulse' : ''}`} aria-hidden="true" />
      {SAYS[mode]}
    </span>
  );
}
