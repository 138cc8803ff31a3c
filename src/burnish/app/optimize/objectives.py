"""The objective of an optimization, kept with it: who goes on with it must want the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from burnish.domain import ConflictError, OptimizationRecord
from burnish.optimization.objectives.front import Point
from burnish.optimization.objectives.objective import Objective
from burnish.optimization.objectives.ranking import Ranking

_KEY = "objective"


def with_objective(spec: Mapping[str, Any], objective: Objective) -> dict[str, Any]:
    """What is kept of a run; the score alone is not worth a word."""
    return {**spec, _KEY: objective.to_json()} if objective.measures else dict(spec)


def objective_of(record: OptimizationRecord) -> Objective:
    """What an optimization was started with."""
    return Objective.of_json(record.spec.get(_KEY))


def require_objective(record: OptimizationRecord, objective: Objective) -> None:
    """Refuse to go on with another one: what was best by the first is not by the second."""
    began = objective_of(record)
    if began != objective:
        raise ConflictError(
            what=f"optimization {record.id} cannot go on",
            why=f"it was started for {began.in_words()}, and now it is {objective.in_words()}",
            fix="give it the same objective, or start a new one; results that are there are reused",
            code="objective_changed",
        )


def ranked(record: OptimizationRecord, points: Iterable[Point]) -> Ranking:
    """How the trials of a stored optimization compare."""
    baseline = next((one.measures for one in points if one.number == 0), None)
    return Ranking(objective=objective_of(record), baseline=baseline)
