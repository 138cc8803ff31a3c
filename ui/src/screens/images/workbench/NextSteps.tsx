import { winnerOf } from './parent';
import type { ImageRun } from '../types';

/** What one most likely does next; it stays in sight. */
export function NextSteps({
  run,
  busy,
  onUse,
  onRun,
  onRerun,
}: {
  run: ImageRun;
  busy: boolean;
  onUse: (prompt: string) => void;
  onRun: (prompt: string) => void;
  onRerun: () => void;
}) {
  const winner = winnerOf(run);
  const balanced = run.suggestions?.balanced;
  return (
    <div className="next-steps" role="group" aria-label="Next steps">
      {winner && (
        <button type="button" className="btn" onClick={() => onUse(winner.variant_prompt)}>
          Use winner as next prompt
        </button>
      )}
      {balanced !== undefined && (
        <button
          type="button"
          className="btn primary"
          disabled={busy}
          onClick={() => onRun(balanced)}
        >
          Try balanced suggestion
        </button>
      )}
      <button type="button" className="btn" disabled={busy} onClick={onRerun}>
        Re-run same settings
      </button>
    </div>
  );
}
