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

function change(next: readonly Toast[]): void {
  toasts = next;
  listeners.forEach((tell) => tell());
}

/** A short message that goes away by itself. */
export function say(text: string, tone: Toast['tone'] = 'good'): void {
  const id = ++last;
  change([...toasts, { id, text, tone }]);
  setTimeout(() => change(toasts.filter((toast) => toast.id !== id)), SECONDS * 1000);
}

export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => toasts,
  );
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map((toast) => (
        <div key={toast.id} className={`notice ${toast.tone}`}>
          {toast.text}
        </div>
      ))}
    </div>
  );
}
