"""The result of an optimization as the one document that every surface shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from burnish.domain import ExperimentType, OptimizationStatus, Spending, TrialResult
from burnish.optimization.confirmation import Confirmation
from burnish.optimization.no_improvement import why_no_improvement
from burnish.optimization.objectives.document import objective_document
from burnish.optimization.orchestrator import Orchestrator


def outcome_document(
    optimization_id: str,
    status: OptimizationStatus,
    orchestrator: Orchestrator,
    *,
    confirmation: Confirmation | str | None,
    evaluations: int,
    spending: Spending,
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """What `burnish optimize --json` prints."""
    checkpoint = orchestrator.checkpoint
    book = orchestrator.book
    best, baseline = book.best(), book.baseline()
    trials = [trial for trial in book.in_order() if trial.type is ExperimentType.TRIAL]
    improved = (
        best is not None and baseline is not None and best.candidate_id != baseline.candidate_id
    )
    message = checkpoint.stop_message
    return {
        "optimization_id": optimization_id,
        "status": status.value,
        "stop_reason": None if checkpoint.stop_reason is None else checkpoint.stop_reason.value,
        "stop_message": message,
        "baseline": None if baseline is None else _scored(baseline),
        "best": None
        if best is None
        else {
            **_scored(best),
            "configuration": book.candidates[best.candidate_id].configuration.to_json(),
        },
        "overruled": _overruled(orchestrator),
        "improved": improved,
        "why_not_improved": None
        if improved
        else why_no_improvement(trials, checkpoint.rejected, book.objective),
        **_evidence(confirmation),
        "objective": objective_document(book.ranking, book.points, confirmation, notes),
        "trials": max(len(trials) - 1, 0),
        "evaluations": evaluations,
        "rejections": checkpoint.rejected,
        "progress": [
            {
                "evaluations": point.evaluations,
                "best_candidate_id": point.best_candidate_id,
                "best_score": point.best_score,
            }
            for point in checkpoint.progress
        ],
        "usage": spending.to_json(),
    }


def _scored(trial: TrialResult) -> dict[str, Any]:
    return {"candidate_id": trial.candidate_id, "score": trial.objective_score}


def _overruled(orchestrator: Orchestrator) -> dict[str, Any] | None:
    """Who scored higher than the winner, if the optimizer chose by more than that score."""
    top = orchestrator.book.overruled()
    if top is None:
        return None
    return {**_scored(top), "number": orchestrator.book.candidates[top.candidate_id].number}


def _evidence(confirmation: Confirmation | str | None) -> dict[str, Any]:
    """The held-out scores and the difference with its interval, or why there are none."""
    if not isinstance(confirmation, Confirmation):
        why = confirmation or "the baseline was not scored"
        return {"test": None, "improvement": None, "confirmation": f"not confirmed: {why}"}
    comparison = confirmation.comparison
    scores = {
        "baseline_score": confirmation.baseline_score,
        "best_score": confirmation.best_score,
        "items": comparison.items,
    }
    where = "held-out items" if confirmation.held_out else "the items of the search: no test split"
    return {
        "test": scores if confirmation.held_out else None,
        "improvement": {
            "delta": comparison.delta,
            "ci_low": comparison.ci_low,
            "ci_high": comparison.ci_high,
            "p_value": comparison.p_value,
            "fixed": comparison.improved,
            "broken": comparison.worsened,
            "held_out": confirmation.held_out,
        },
        "confirmation": f"compared on {comparison.items} {where}",
    }
