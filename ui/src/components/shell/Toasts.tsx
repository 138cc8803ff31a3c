import { useSyncExternalStore } from 'react';

interface Toast {
  id: number;
  text: string;
  tone: 'good' | 'bad' | 'info';
}

let toasts: readonly Toast[] = [];
let last = 0;
const listeners = new Set<() => void>();
const SECONDS = 6;
/** More would cover the page; the oldest go. */
const MOST = 3;

function change(next: readonly Toast[]): void {
  toasts = next;
  listeners.forEach((tell) => tell());
}

/** A short message that goes away by itself. */
export function say(text: string, tone: Toast['tone'] = 'good'): void {
  const id = ++last;
  change([...toasts, { id, text, tone }].slice(-MOST));
  setTimeout(() => drop(id), SECONDS * 1000);
}

/** What is said at the moment, the oldest first. */
export const said = (): readonly Toast[] => toasts;

function drop(id: number): void {
  change(toasts.filter((toast) => toast.id !== id));
}

export function Toasts() {
  const shown = useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, said);
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map((toast) => (
        <div key={toast.id} className={`notice ${toast.tone}`}>
          <span className="grow">{toast.text}</span>
          <button
            type="button"
            className="btn ghost small"
            aria-label="Close this message"
            onClick={() => drop(toast.id)}
          >
            ✕
          </button>
        </div>
      ))}
    </div>
  );
}
