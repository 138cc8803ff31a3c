"""The objective's part of a result: what was chosen, what it trades, and the front."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from burnish.optimization.confirmation import Confirmation
from burnish.optimization.objectives.front import Point
from burnish.optimization.objectives.ranking import Ranking


def objective_document(
    ranking: Ranking,
    points: Sequence[Point],
    confirmation: Confirmation | str | None,
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """What the result says under `objective`.

    `allowance` is the score that the measures are worth against the baseline's: a chosen point that
    lies no more than that below it is still better by the objective.
    """
    best = ranking.best(points)
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
