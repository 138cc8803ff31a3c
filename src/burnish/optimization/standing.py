"""Which candidate is best, and what that says about the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from burnish.domain import Candidate, ExperimentStatus, TrialResult

# Scores closer than this are one score: sums of floats in another order must not make a winner.
TOLERANCE = 1e-9


def best_trial(
    trials: Sequence[TrialResult], candidates: Mapping[str, Candidate]
) -> TrialResult | None:
    """The completed trial with the highest score; of equals the earliest, so ties change nothing."""
    best: TrialResult | None = None
    for trial in sorted(trials, key=lambda one: candidates[one.candidate_id].number):
        if not trial.counts or trial.objective_score is None:
            continue
        if best is None or trial.objective_score > (best.objective_score or 0.0) + TOLERANCE:
            best = trial
    return best


def why_no_improvement(trials: Sequence[TrialResult], rejected: int) -> str:
    """In words, why the baseline is the result."""
    tried = [trial for trial in trials if trial.type.value == "trial"][1:]
    if not tried:
        refused = f"; {rejected} proposals were refused" if rejected else ""
        return f"no candidate was run{refused}"
    finished = [trial for trial in tried if trial.counts]
    pruned = sum(1 for trial in tried if trial.status is ExperimentStatus.PRUNED)
    if not finished and not pruned:
        return f"none of the {len(tried)} trials could be scored"
    ended = f", {pruned} of them ended early" if pruned else ""
    return f"none of the {len(tried)} candidates tried scored above the baseline{ended}"
