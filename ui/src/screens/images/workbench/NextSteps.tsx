import type { ImageRun, Variant } from '../types';

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

/** The variant that ranks first. */
function winnerOf(run: Pick<ImageRun, 'leaderboard'> | undefined): Variant | null {
  return run?.leaderboard[0] ?? null;
}

/**
 * The commit that the next run branches from: the best variant's, else what this run was made
 * from, else where the workbench was opened. Without any of them it begins a new history.
 */
export function branchParent(
  run: Pick<ImageRun, 'leaderboard' | 'anchor_commit_id'> | undefined,
  opened: string | null,
): string | null {
  const best = run?.leaderboard.find((variant) => variant.commit_id !== null);
  return best?.commit_id ?? run?.anchor_commit_id ?? opened;
}
