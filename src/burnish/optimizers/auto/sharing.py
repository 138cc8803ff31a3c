"""Sharing of a budget: what one member of a portfolio sees, and what is kept for the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from burnish.domain import OptimizerState, RunContext, TrialHistory
from burnish.optimizers.shared.facts import RunFacts


class Share:
    """A history in which fewer evaluations are left; all else is the run's own."""

    def __init__(self, history: TrialHistory, left: int | None) -> None:
        self._history = history
        self.evaluations_left = left

    def __getattr__(self, name: str) -> Any:
        return getattr(self._history, name)


def kept_context(context: RunContext) -> dict[str, Any]:
    """The context as JSON, for members that begin later."""
    return {
        **RunFacts.of(context).to_json(),
        "optimization_id": context.optimization_id,
        "evaluation_suite_id": context.evaluation_suite_id,
        "objective_name": context.objective_name,
        "splits": {name: list(ids) for name, ids in context.splits.items()},
    }


def context_within(kept: Mapping[str, Any], left: int | None) -> RunContext:
    """The context that `kept_context` kept, with what is left now."""
    facts = RunFacts.within(OptimizerState(algorithm_data=kept))
    return RunContext(
        optimization_id=kept["optimization_id"],
        evaluation_suite_id=kept["evaluation_suite_id"],
        objective_name=kept["objective_name"],
        baseline_candidate_id=facts.baseline_candidate_id,
        baseline_score=facts.baseline_score,
        max_candidates_per_step=facts.places,
        baseline=facts.baseline,
        space=facts.space,
        splits={name: tuple(ids) for name, ids in kept["splits"].items()},
        seed=facts.seed,
        labels=facts.labels,
        placeholders=facts.baseline.placeholders,
        perfect_score=facts.perfect_score,
        evaluations_left=left,
        criteria=facts.criteria,
        output_schema=facts.output_schema,
        answer_fields=facts.answer_fields,
    )


def from_winner(context: RunContext, history: TrialHistory, winner_id: str) -> RunContext:
    """The same run, begun from its best candidate."""
    score = next(
        (one.objective_score for one in history.trials if one.candidate_id == winner_id), None
    )
    return replace(
        context,
        baseline_candidate_id=winner_id,
        baseline=history.candidate(winner_id).configuration,
        baseline_score=context.baseline_score if score is None else score,
    )


def leader(history: TrialHistory, members: Sequence[str]) -> str:
    """The member whose best trial is best; of equals the one that began first."""
    best = dict.fromkeys(members, float("-inf"))
    for trial in history.trials:
        made = history.candidate(trial.candidate_id).metadata or {}
        by = made.get("optimizer")
        if by in best and trial.counts and trial.objective_score is not None:
            best[str(by)] = max(best[str(by)], trial.objective_score)
    return max(members, key=lambda name: (best[name], -members.index(name)))
