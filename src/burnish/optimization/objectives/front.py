"""Candidates as points of score and measures, and those that no other beats on all of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from burnish.domain import Candidate, TrialResult, TrialSummary
from burnish.optimization.objectives.objective import Objective

# What an objective may name, and under which name its numbers stand.
MEASURES = {"tokens": "tokens", "cost": "cost_usd", "latency": "latency_ms"}
# Scores closer than this are one score: sums of floats in another order must not make a winner.
TOLERANCE = 1e-9
_DIGITS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """What one evaluation takes on the mean. None is unknown, never 0."""

    tokens: float | None = None
    cost_usd: float | None = None
    latency_ms: float | None = None

    @classmethod
    def of(cls, summary: TrialSummary) -> Measures:
        """Of a trial."""
        return cls(
            tokens=summary.avg_tokens,
            cost_usd=summary.avg_cost_usd,
            latency_ms=summary.avg_latency_ms,
        )

    def of_name(self, name: str) -> float | None:
        """The measure that an objective calls so."""
        value: float | None = getattr(self, MEASURES[name])
        return value

    def to_json(self) -> dict[str, float | None]:
        """The numbers by name."""
        return {name: getattr(self, name) for name in MEASURES.values()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One candidate's completed trial."""

    candidate_id: str
    number: int
    score: float
    measures: Measures = field(default_factory=Measures)

    def to_json(self) -> dict[str, Any]:
        """Everything on one level."""
        return {
            "candidate_id": self.candidate_id,
            "number": self.number,
            "score": self.score,
            **self.measures.to_json(),
        }


def points_of(trials: Iterable[TrialResult], candidates: Mapping[str, Candidate]) -> list[Point]:
    """The trials that can be best, by number."""
    found = [
        Point(
            candidate_id=trial.candidate_id,
            number=candidates[trial.candidate_id].number,
            score=trial.objective_score,
            measures=Measures.of(trial.summary),
        )
        for trial in trials
        if trial.counts and trial.objective_score is not None
    ]
    return sorted(found, key=lambda one: one.number)


def front(points: Iterable[Point], measures: Sequence[str]) -> tuple[Point, ...]:
    """Points that no other dominates: as good in score and every measure, and better in one.

    From cheap to dear by the first measure. Of points that are alike in everything the earliest
    stays. An unknown measure counts as dearer than any that is known.
    """
    found: list[tuple[Point, float, tuple[float, ...]]] = []
    # In this order nothing is dominated by what comes after it.
    for one in sorted(points, key=lambda one: (prices(one, measures), -grade(one), one.number)):
        score, asked = grade(one), prices(one, measures)
        if not any(
            better >= score and all(own <= other for own, other in zip(paid, asked, strict=True))
            for _, better, paid in found
        ):
            found.append((one, score, asked))
    return tuple(one for one, _, _ in found)


def grade(point: Point) -> float:
    """The score as it is compared."""
    return round(point.score, _DIGITS)


def prices(point: Point, measures: Sequence[str]) -> tuple[float, ...]:
    """The measures as they are compared; unknown ones are the dearest."""
    values = (point.measures.of_name(name) for name in measures)
    return tuple(float("inf") if value is None else value for value in values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """An objective, with the baseline that its weights are relative to."""

    objective: Objective = field(default_factory=Objective)
    baseline: Measures | None = None

    def merit(self, point: Point) -> float | None:
        """What a search maximises: the utility where measures are weighed, else the score.

        None where a measure that counts is unknown.
        """
        if not self.objective.weights or self.baseline is None:
            return point.score
        saved = self.saved(point.measures)
        return None if saved is None else point.score + saved

    def saved(self, measures: Measures, baseline: Measures | None = None) -> float | None:
        """What the measures are worth in score, against the baseline's; below 0 where dearer."""
        total = 0.0
        for name in self.objective.measures:
            before = (baseline or self.baseline or Measures()).of_name(name)
            after = measures.of_name(name)
            if not before or after is None:
                return None
            total -= self.objective.weights[name] * (after / before - 1)
        return total

    def best(self, points: Collection[Point]) -> Point | None:
        """The chosen point; of equals the earliest, so ties change nothing."""
        if self.objective.pareto:
            return self._cheapest(points)
        merits = [(merit, one) for one in points if (merit := self.merit(one)) is not None]
        enough = max((merit for merit, _ in merits), default=0.0) - TOLERANCE
        good = (one for merit, one in merits if merit >= enough)
        return min(good, key=lambda one: one.number, default=None)

    def front(self, points: Collection[Point]) -> tuple[Point, ...]:
        """Points that no other beats in score and in every measure that counts."""
        return front(points, self.objective.front_measures)

    def _cheapest(self, points: Collection[Point]) -> Point | None:
        """Of a front, the least by the first measure among those that score well enough."""
        measures = self.objective.pareto
        members = front(points, measures)
        if not members:
            return None
        enough = max(map(grade, members)) - self.objective.tolerance - TOLERANCE
        good = [one for one in members if grade(one) >= enough]
        return min(good, key=lambda one: (prices(one, measures), -grade(one), one.number))

    def allowance(self, best: Measures, baseline: Measures) -> float:
        """The score that the best may lie below the baseline and still be better by the objective.

        Below 0 it has to lie so much above.
        """
        if self.objective.weights:
            return self.saved(best, baseline) or 0.0
        if not self.objective.pareto:
            return 0.0
        lead = self.objective.pareto[0]
        before, after = baseline.of_name(lead), best.of_name(lead)
        cheaper = before is not None and after is not None and after < before
        return self.objective.tolerance if cheaper else 0.0
