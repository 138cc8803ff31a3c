"""Outcome of an optimization: the one document that every surface shows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from burnish.domain import (
    ExperimentStatus,
    ExperimentType,
    Json,
    OptimizationStatus,
    Purpose,
    Spending,
    StopReason,
    TrialResult,
    Usage,
)
from burnish.domain.wording import counted
from burnish.evaluation.looks import level_by_hand, look_words
from burnish.optimization.confirmation import Confirmation
from burnish.optimization.objective import Objective, Point, Ranking
from burnish.optimization.orchestrator import Orchestrator


def unknown_usage(trials: Collection[TrialResult]) -> bool:
    """Whether there are answers, of which nobody told what one takes; reused ones tell it too."""
    return bool(trials) and all(one.summary.avg_tokens is None for one in trials)


def why_no_improvement(
    trials: Sequence[TrialResult],
    rejected: int,
    objective: Objective | None = None,
    *,
    asked: Usage | None = None,
) -> str:
    """In words, why the baseline is the result. `asked` is what the optimizer asked of its model,
    where the budget ended the search."""
    tried = [trial for trial in trials if trial.type is ExperimentType.TRIAL][1:]
    if not tried:
        refused = f"; {_many(rejected, 'proposal')} refused" if rejected else ""
        refused += _spent_on(asked)
        looked = {one.candidate_id for one in trials if one.type is ExperimentType.MINI_BATCH}
        looked -= {one.candidate_id for one in trials if one.type is ExperimentType.TRIAL}
        if not looked:
            return f"no candidate was run{refused}"
        return f"{_many(len(looked), 'candidate')} tried on mini-batches, none went on{refused}"
    finished = [trial for trial in tried if trial.counts]
    pruned = sum(1 for trial in tried if trial.status is ExperimentStatus.PRUNED)
    if not finished and not pruned:
        return _none_of(len(tried), "trials", "could be scored")
    ended = f", {pruned} of them ended early" if pruned else ""
    better = "scored above the baseline"
    if objective is not None and objective.measures:
        better = f"was better than the baseline by the objective ({objective.in_words()})"
    return _none_of(len(tried), "candidates tried", f"{better}{ended}")


def _many(number: int, noun: str) -> str:
    return f"{counted(number, noun)} {'was' if number == 1 else 'were'}"


def _none_of(number: int, nouns: str, what: str) -> str:
    if number == 1:
        return f"the one {nouns.replace('s', '', 1)} never {what}"
    return f"none of the {number} {nouns} {what}"


def _spent_on(asked: Usage | None) -> str:
    if asked is None or not asked.calls:
        return ""
    cost = "" if asked.cost_usd is None else f", ${asked.cost_usd:.4f}"
    calls = counted(asked.calls, "call")
    return f"; the budget went to what the optimizer asked its model ({calls}{cost})"


def outcome_document(
    optimization_id: str,
    status: OptimizationStatus,
    orchestrator: Orchestrator,
    *,
    confirmation: Confirmation | str | None,
    evaluations: int,
    spending: Spending,
    notes: Sequence[str],
    search: Mapping[str, Json] | None,
    traffic: Mapping[str, Any] | None = None,
    held_out: str | None = None,
) -> dict[str, Any]:
    """What `burnish optimize --json` prints; `search` is what the search learnt.

    `held_out` is the fingerprint of the held-out items.
    """
    checkpoint = orchestrator.checkpoint
    trial_index = orchestrator.trial_index
    best, baseline = trial_index.best(), trial_index.baseline()
    trials = [trial for trial in trial_index.in_order() if trial.type is ExperimentType.TRIAL]
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
            "configuration": trial_index.candidates[best.candidate_id].configuration.to_json(),
        },
        "overruled": _overruled(orchestrator),
        "passed_over": list(trial_index.passed_over),
        "turned_down": [
            {
                "number": trial_index.candidates[one].number,
                "broken_items": list(broken.item_ids),
                "why": broken.in_words(),
            }
            for one, broken in trial_index.turned_down.items()
        ],
        "kept_passing": None if trial_index.kept is None else trial_index.kept.to_json(),
        "improved": improved,
        "why_not_improved": None
        if improved
        else "held-out items speak against what was found"
        if trial_index.passed_over
        else "whatever scored higher breaks items that the baseline passes"
        if trial_index.turned_down
        else why_no_improvement(
            trial_index.in_order(),
            checkpoint.rejected,
            trial_index.objective,
            asked=spending.by_purpose.get(Purpose.PROPOSE)
            if checkpoint.stop_reason is StopReason.BUDGET
            else None,
        ),
        **evidence_document(confirmation),
        "held_out_items": held_out,
        "objective": objective_document(
            trial_index.ranking,
            trial_index.points,
            confirmation,
            notes,
            None if best is None else best.candidate_id,
        ),
        "search": search,
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
        "usage": spending.to_json(answers=unknown_usage(trial_index.in_order())),
        "traffic": dict(traffic or {}),
    }


def _scored(trial: TrialResult) -> dict[str, Any]:
    return {
        "candidate_id": trial.candidate_id,
        "score": trial.objective_score,
        "items": trial.summary.total_items,
        "errors": trial.summary.error_items,
        "missing": trial.summary.missing_items,
    }


def _overruled(orchestrator: Orchestrator) -> dict[str, Any] | None:
    """Who scored higher than the winner, or was chosen by the optimizer, and `by` what it is not it."""
    index = orchestrator.trial_index
    one, refusal = index.overruled(), index.refusal
    if one is None:
        return None
    found = {
        "candidate_id": one.candidate_id,
        "score": one.objective_score,
        "number": index.candidates[one.candidate_id].number,
    }
    if refusal is None:
        return {**found, "by": "optimizer"}
    better = index.candidates[refusal.better].number
    shown = {"better": better, "items": refusal.items, "p_value": refusal.p_value}
    return {**found, "by": "evidence", **shown}


def evidence_document(confirmation: Confirmation | str | None, look: int = 1) -> dict[str, Any]:
    """The held-out scores and the difference with its interval, or why there are none."""
    if not isinstance(confirmation, Confirmation):
        why = confirmation or "the baseline was not scored"
        return {"test": None, "improvement": None, "confirmation": f"not confirmed: {why}"}
    comparison = confirmation.comparison
    scores = {
        "baseline_score": confirmation.baseline_score,
        "best_score": confirmation.best_score,
        "items": comparison.items,
        "of_items": confirmation.of_items,
    }
    where = f"{counted(comparison.items, 'held-out item')}"
    if not confirmation.held_out:
        where = f"the {counted(comparison.items, 'item')} of the search; there is no test split"
    elif confirmation.of_items > comparison.items:
        least = comparison.detectable
        shown = "show nothing" if least is None else f"show differences from about {least:.2f}"
        of = f"{comparison.items} of {counted(confirmation.of_items, 'held-out item')}"
        where = f"{of} (the budget left room for no more), which {shown}"
    return {
        "test": scores if confirmation.held_out else None,
        "improvement": {
            "delta": comparison.delta,
            "ci_low": comparison.ci_low,
            "ci_high": comparison.ci_high,
            "p_value": comparison.p_value,
            "detectable": comparison.detectable,
            "fixed": comparison.improved,
            "broken": comparison.worsened,
            "held_out": confirmation.held_out,
            "items": comparison.items,
            "missing": confirmation.missing,
            "look": look,
            "level": level_by_hand(look),
        },
        "confirmation": f"compared on {where}"
        + (f"; {look_words(look, level_by_hand(look))}" if look > 1 else ""),
    }


def objective_document(
    ranking: Ranking,
    points: Sequence[Point],
    confirmation: Confirmation | str | None,
    notes: Sequence[str],
    best_id: str | None,
) -> dict[str, Any]:
    """What the result says under `objective`.

    `allowance` is the score that the measures are worth against the baseline's: a chosen point that
    lies no more than that below it is still better by the objective.
    """
    best = next((one for one in points if one.candidate_id == best_id), None)
    baseline = next((one for one in points if one.number == 0), None)
    confirmed = confirmation if isinstance(confirmation, Confirmation) else None
    return {
        **ranking.objective.to_json(),
        "chosen": None if best is None else point_json(ranking, best),
        "baseline": None if baseline is None else point_json(ranking, baseline),
        "allowance": _allowance(ranking, best, baseline, confirmed),
        "held_out": _held_out(confirmed),
        "unmeasured": sum(1 for one in points if _is_unmeasured(ranking, one)),
        "notes": list(notes),
        "front": front_json(ranking, points),
    }


def front_json(ranking: Ranking, points: Sequence[Point]) -> list[dict[str, Any]]:
    """The front from cheap to dear."""
    return [point_json(ranking, one) for one in ranking.front(points)]


def point_json(ranking: Ranking, point: Point) -> dict[str, Any]:
    """A point; with weights its utility too."""
    utility = {"utility": ranking.merit(point)} if ranking.objective.weights else {}
    return {**point.to_json(), **utility}


def _allowance(
    ranking: Ranking, best: Point | None, baseline: Point | None, confirmed: Confirmation | None
) -> float:
    if best is None or baseline is None or best is baseline:
        return 0.0
    if confirmed is not None:
        return ranking.allowance(confirmed.best_measures, confirmed.baseline_measures)
    return ranking.allowance(best.measures, baseline.measures)


def _held_out(confirmed: Confirmation | None) -> dict[str, Any] | None:
    if confirmed is None or not confirmed.held_out:
        return None
    return {
        "baseline": confirmed.baseline_measures.to_json(),
        "chosen": confirmed.best_measures.to_json(),
    }


def _is_unmeasured(ranking: Ranking, point: Point) -> bool:
    return any(point.measures.of_name(name) is None for name in ranking.objective.measures)
