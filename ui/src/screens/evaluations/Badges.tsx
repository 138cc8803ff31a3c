import { OUTCOME_SIGNS, OUTCOME_TONES, OUTCOME_WORDS, type ItemRun } from './result';

export function OutcomeBadge({ run }: { run: Pick<ItemRun, 'refinement'> }) {
  if (run.refinement === null) return <span className="muted">–</span>;
  const { outcome } = run.refinement;
  if (outcome === 'not_refined') return <span className="muted small">not refined</span>;
  return (
    <span className={`badge ${OUTCOME_TONES[outcome]}`} data-outcome={outcome}>
      <span aria-hidden="true">{OUTCOME_SIGNS[outcome]}</span>
      {OUTCOME_WORDS[outcome]}
    </span>
  );
}

export function Passing({ run }: { run: Pick<ItemRun, 'passed' | 'error'> }) {
  if (run.error?.kind === 'skipped') return <span className="badge">not judged</span>;
  if (run.error) return <span className="badge bad">error</span>;
  return (
    <span className={`badge ${run.passed ? 'good' : 'bad'}`}>
      {run.passed ? 'passed' : 'failed'}
    </span>
  );
}
