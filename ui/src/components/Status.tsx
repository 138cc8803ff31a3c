/** A status as a coloured word; colour is never the only sign. */
const TONES: Record<string, string> = {
  running: 'info',
  evaluating: 'info',
  completed: 'good',
  succeeded: 'good',
  accepted: 'good',
  failed: 'bad',
  error: 'bad',
  cancelled: 'warn',
  stopped: 'warn',
  pruned: '',
  initialized: '',
  pending: '',
  rejected: 'warn',
};

export function Status({ value }: { value: string | null | undefined }) {
  if (!value) return <span className="muted">–</span>;
  const tone = TONES[value] ?? '';
  return (
    <span className={`badge ${tone}`}>
      <span className={`dot ${value === 'running' ? 'pulse' : ''}`} aria-hidden="true" />
      {value.replace(/_/g, ' ')}
    </span>
  );
}
