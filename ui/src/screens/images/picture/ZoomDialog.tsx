import { useState, type KeyboardEvent } from 'react';
import { Dialog } from '@/components/Dialog';
import { percent } from '@/lib/format';
import { Picture } from './Picture';

const STEPS = [1, 1.5, 2, 3, 4, 6] as const;

/** A picture as large as the screen, and larger. */
export function ZoomDialog({
  title,
  url,
  alt,
  onClose,
}: {
  title: string;
  url: string | null;
  alt: string;
  onClose: () => void;
}) {
  const [step, setStep] = useState(0);
  const to = (next: number) => setStep(Math.max(0, Math.min(STEPS.length - 1, next)));
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === '+' || event.key === '=') to(step + 1);
    else if (event.key === '-') to(step - 1);
    else if (event.key === '0') to(0);
    else return;
    event.preventDefault();
  };
  const zoom = STEPS[step] ?? 1;
  return (
    <Dialog
      title={title}
      onClose={onClose}
      wide
      foot={
        <div className="row between grow">
          <span className="small muted">+ − 0 zoom, arrow keys scroll</span>
          <div className="segmented" role="group" aria-label="Zoom">
            <button type="button" aria-label="Zoom out" onClick={() => to(step - 1)}>
              −
            </button>
            <button type="button" onClick={() => to(0)}>
              {percent(zoom)}
            </button>
            <button type="button" aria-label="Zoom in" onClick={() => to(step + 1)}>
              +
            </button>
          </div>
        </div>
      }
    >
      <div
        className="zoom-stage"
        data-autofocus
        tabIndex={0}
        role="region"
        aria-label={`${title}, enlarged`}
        onKeyDown={onKeyDown}
        onDoubleClick={() => to(step === 0 ? 2 : 0)}
      >
        <div className="zoom-sheet" style={{ width: `${zoom * 100}%` }} data-zoom={zoom}>
          <Picture url={url} alt={alt} />
        </div>
      </div>
    </Dialog>
  );
}
