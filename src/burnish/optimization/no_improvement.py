"""What it says about a run that nothing is better than its baseline."""

from __future__ import annotations

from collections.abc import Sequence

from burnish.domain import ExperimentStatus, TrialResult
from burnish.optimization.objectives.objective import Objective


def why_no_improvement(
    trials: Sequence[TrialResult], rejected: int, objective: Objective | None = None
) -> str:
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
    better = "scored above the baseline"
    if objective is not None and objective.measures:
        better = f"was better than the baseline by the objective ({objective.in_words()})"
    return f"none of the {len(tried)} candidates tried {better}{ended}"
