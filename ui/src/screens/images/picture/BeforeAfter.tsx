import { useState, type CSSProperties } from 'react';
import { Dialog } from '@/components/Dialog';
import { Picture } from './Picture';

export interface Side {
  url: string | null;
  label: string;
}

/** Two pictures over each other, and a line between them that is drawn or moved by arrow keys. */
export function BeforeAfter({ before, after }: { before: Side; after: Side }) {
  const [at, setAt] = useState(50);
  const style: CSSProperties & Record<'--at', string> = { '--at': `${at}%` };
  return (
    <figure className="slider" style={style}>
      <div className="slider-stage">
        <Picture url={before.url} alt={before.label} />
        <div className="slider-after">
          <Picture url={after.url} alt={after.label} />
        </div>
        <span className="slider-line" aria-hidden="true" />
        <input
          type="range"
          min={0}
          max={100}
          value={at}
          data-autofocus
          aria-label="Line between before and after"
          aria-valuetext={`${at}% before, ${100 - at}% after`}
          onChange={(event) => setAt(Number(event.target.value))}
        />
      </div>
      <figcaption className="row between small">
        <span>
          <strong>Before</strong> <span className="muted">{before.label}</span>
        </span>
        <span>
          <span className="muted">{after.label}</span> <strong>After</strong>
        </span>
      </figcaption>
    </figure>
  );
}

export function BeforeAfterDialog({
  before,
  after,
  onClose,
}: {
  before: Side;
  after: Side;
  onClose: () => void;
}) {
  return (
    <Dialog title="Before and after" onClose={onClose}>
      <BeforeAfter before={before} after={after} />
    </Dialog>
  );
}
