"""The candidates and observed results of a run, as the orchestrator knows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from burnish.domain import (
    Candidate,
    ExperimentRepository,
    ExperimentStatus,
    ExperimentType,
    Item,
    TrialResult,
)
from burnish.optimization.checkpoint import Pending
from burnish.optimization.history import History
from burnish.optimization.objectives.front import Measures, Point, points_of
from burnish.optimization.objectives.objective import Objective
from burnish.optimization.objectives.ranking import Ranking
from burnish.optimization.plan import experiment_id

_SCORED = (ExperimentStatus.COMPLETED, ExperimentStatus.PRUNED)


class Book:
    """Grows with the run; everything in it is in the repository too."""

    def __init__(self, optimization_id: str, objective: Objective | None = None) -> None:
        self._optimization_id = optimization_id
        self.objective = objective or Objective()
        # The winner by the optimizer's own judgement, if it has one.
        self.choice: str | None = None
        self.candidates: dict[str, Candidate] = {}
        self.trials: dict[str, TrialResult] = {}
        self._by_hash: dict[str, Candidate] = {}
        # Of the trials that can be best, by experiment.
        self._points: dict[str, Point] = {}

    def add_candidates(self, candidates: Iterable[Candidate]) -> None:
        """Note accepted candidates; known ones stay as they are."""
        for one in candidates:
            self.candidates.setdefault(one.id, one)
            self._by_hash.setdefault(one.configuration.hash, one)

    def observe(self, results: Iterable[TrialResult]) -> None:
        """Note results that the optimizer is about to hear of."""
        for one in results:
            self.trials[one.experiment_id] = one
            for point in points_of([one], self.candidates):
                self._points[one.experiment_id] = point

    @property
    def points(self) -> Sequence[Point]:
        """The trials that can be best, in the order they were observed."""
        return tuple(self._points.values())

    @property
    def ranking(self) -> Ranking:
        """How trials compare; before the baseline has a score, by score alone."""
        baseline = self.baseline()
        point = None if baseline is None else self._points.get(baseline.experiment_id)
        return Ranking(objective=self.objective, baseline=None if point is None else point.measures)

    def best(self) -> TrialResult | None:
        """The best trial so far: the optimizer's choice, else the best by the objective."""
        for trial in self.trials.values():
            if trial.counts and trial.candidate_id == self.choice:
                return trial
        best = self.ranking.best(self._points.values())
        return next(
            (self.trials[key] for key, point in self._points.items() if point is best), None
        )

    def overruled(self) -> TrialResult | None:
        """The trial with the best score, where the optimizer chose another for reasons of its own."""
        best = self.best()
        found = self.ranking.best(self._points.values())
        if best is None or found is None or self.objective.weights:
            return None
        top = next(self.trials[key] for key, point in self._points.items() if point is found)
        return top if (top.objective_score or 0.0) > (best.objective_score or 0.0) else None

    def as_seen(self, results: Iterable[TrialResult]) -> list[TrialResult]:
        """Results as an optimizer sees them, with what it is to maximise as their score."""
        if not self.objective.weights:
            return list(results)
        ranking = self.ranking
        return [_weighed(one, ranking) for one in results]

    def baseline(self) -> TrialResult | None:
        """The baseline's trial, once it has a score."""
        return next(
            (one for one in self.trials.values() if one.counts and self._is_first(one)), None
        )

    def in_order(self, results: Iterable[TrialResult] | None = None) -> list[TrialResult]:
        """Results in the order of candidates, not of the clock: a resumed run must see them alike."""
        return sorted(
            self.trials.values() if results is None else results,
            key=lambda one: (self.candidates[one.candidate_id].number, one.experiment_id),
        )

    def trial_count(self, pending: Sequence[Pending]) -> int:
        """Trials that ran or are running; neither the baseline nor mini-batches are trials."""
        running = sum(1 for one in pending if one.item_ids is None)
        return running + sum(
            1
            for one in self.trials.values()
            if one.type is ExperimentType.TRIAL and not self._is_first(one)
        )

    def was_run(
        self,
        configuration_hash: str,
        item_ids: tuple[str, ...] | None,
        pending: Sequence[Pending],
    ) -> bool:
        """Whether a configuration ran, or is running, on a set of items."""
        candidate = self._by_hash.get(configuration_hash)
        if candidate is None:
            return False
        planned = experiment_id(self._optimization_id, candidate.id, item_ids)
        return planned in self.trials or any(one.experiment_id == planned for one in pending)

    def counts(self) -> tuple[int, int]:
        """Trials that ended with a score, and those that ended without."""
        ended = [one for one in self.trials.values() if one.type is ExperimentType.TRIAL]
        scored = sum(1 for one in ended if one.status in _SCORED)
        return scored, len(ended) - scored

    def history(
        self,
        experiments: ExperimentRepository,
        items: Mapping[str, Item],
        *,
        evaluations_left: int | None,
    ) -> History:
        """What the optimizer may look at."""
        return History(
            experiments=experiments,
            items=items,
            candidates=self.candidates,
            results=self.as_seen(self.in_order()),
            evaluations_left=evaluations_left,
        )

    def _is_first(self, trial: TrialResult) -> bool:
        return self.candidates[trial.candidate_id].number == 0


def _weighed(trial: TrialResult, ranking: Ranking) -> TrialResult:
    if trial.objective_score is None:
        return trial
    saved = ranking.saved(Measures.of(trial.summary))
    return replace(trial, objective_score=None if saved is None else trial.objective_score + saved)
