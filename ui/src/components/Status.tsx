import type { HTMLAttributes } from 'react';

type Tone = '' | 'good' | 'bad' | 'warn' | 'info';

interface BadgeProps extends HTMLAttributes<HTMLSpanElement> {
  tone: Tone;
  /** It goes on at the moment. */
  pulse?: boolean;
}

/** A coloured word with a dot; colour is never the only sign. */
export function Badge({ tone, pulse = false, children, ...rest }: BadgeProps) {
  return (
    <span className={`badge ${tone}`} {...rest}>
      <span className={`dot ${pulse ? 'pulse' : ''}`} aria-hidden="true" />
      {children}
    </span>
  );
}

const TONES: Record<string, Tone> = {
  running: 'info',
  evaluating: 'info',
  completed: 'good',
  accepted: 'good',
  failed: 'bad',
  error: 'bad',
  cancelled: 'warn',
  interrupted: 'warn',
  rejected: 'warn',
};

/** A status of a run, an evaluation or a trial. */
export function Status({ value }: { value: string | null | undefined }) {
  if (!value) return <span className="muted">–</span>;
  return (
    <Badge tone={TONES[value] ?? ''} pulse={value === 'running'}>
      {value.replace(/_/g, ' ')}
    </Badge>
  );
}
