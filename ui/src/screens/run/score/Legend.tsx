import type { ReactNode } from 'react';
import { styleOf } from './Marks';
import type { Look } from './shapes';

/** What the shapes mean. */
export function Legend({ looks, children }: { looks: readonly Look[]; children?: ReactNode }) {
  return (
    <ul className="score-legend small muted" aria-label="Legend">
      {looks.map((look) => (
        <li key={look.id}>
          <svg width="16" height="16" viewBox="-8 -8 16 16" aria-hidden="true">
            <path d={look.path} style={styleOf(look)} />
          </svg>
          {look.says}
        </li>
      ))}
      {children ?? (
        <>
          <li>
            <svg width="20" height="16" viewBox="0 0 20 16" aria-hidden="true">
              <path d="M1 12 H8 V5 H19" className="score-best" />
            </svg>
            Best so far
          </li>
          <li>
            <svg width="20" height="16" viewBox="0 0 20 16" aria-hidden="true">
              <path d="M1 8 H19" className="score-baseline" />
            </svg>
            Baseline’s score
          </li>
        </>
      )}
    </ul>
  );
}

export function Toggle({
  label,
  checked,
  onChange,
}: {
  label: string;
  checked: boolean;
  onChange(on: boolean): void;
}) {
  return (
    <label className="score-toggle small">
      <input
        type="checkbox"
        checked={checked}
        onChange={(event) => onChange(event.target.checked)}
      />
      {label}
    </label>
  );
}
