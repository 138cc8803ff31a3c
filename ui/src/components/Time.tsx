import { useEffect, useState } from 'react';
import { duration, exactTime, relativeTime } from '@/lib/format';

/** The time, anew every few seconds. */
export function useNow(everyMs = 10_000): Date {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

/** "3 minutes ago", with the exact time on hover. */
export function Time({ at }: { at: string | null | undefined }) {
  const now = useNow();
  if (!at) return <span className="muted">–</span>;
  const when = new Date(at);
  return (
    <time dateTime={at} title={exactTime(when)} className="nowrap">
      {relativeTime(when, now)}
    </time>
  );
}

/** How long something took, or takes until now. */
export function Duration({ from, to }: { from: string; to: string | null | undefined }) {
  const now = useNow(1000);
  const end = to ? new Date(to) : now;
  const seconds = Math.max(0, (end.getTime() - new Date(from).getTime()) / 1000);
  return (
    <span className="nowrap" title={`${seconds.toFixed(1)} s`}>
      {duration(seconds)}
    </span>
  );
}
