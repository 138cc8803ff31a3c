import type { ImageRun, Variant } from '../types';

/** The variant that ranks first. */
export function winnerOf(run: Pick<ImageRun, 'leaderboard'> | undefined): Variant | null {
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
