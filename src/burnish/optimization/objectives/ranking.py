"""Which point is best by an objective, and how that looks beside the baseline."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from burnish.optimization.objectives.front import TOLERANCE, Measures, Point, front, grade, prices
from burnish.optimization.objectives.objective import Objective


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
