import type { ReactNode } from 'react';
import { Empty } from '../States';
import './list.css';

/** The button below a list that has more lines. */
export function More({ what, busy, onMore }: { what: string; busy: boolean; onMore: () => void }) {
  return (
    <button type="button" className="btn list-more" disabled={busy} onClick={onMore}>
      {busy ? 'Loading…' : `Show more ${what}`}
    </button>
  );
}

/** A list without lines: because of its filters, or because there is nothing yet. */
export function NoLines({
  what,
  filtered,
  onClear,
  onNew,
  children,
}: {
  /** One of them, such as `run`. */
  what: string;
  filtered: boolean;
  onClear: () => void;
  onNew: () => void;
  /** What one is, and how to start it. */
  children: ReactNode;
}) {
  return (
    <div className="card">
      {filtered ? (
        <Empty title={`No ${what} matches`}>
          <p>Nothing has this text and these filters together.</p>
          <button type="button" className="btn" onClick={onClear}>
            Clear the filters
          </button>
        </Empty>
      ) : (
        <Empty title={`No ${what}s yet`}>
          <p>{children}</p>
          <button type="button" className="btn primary" onClick={onNew}>
            New {what}
          </button>
        </Empty>
      )}
    </div>
  );
}
