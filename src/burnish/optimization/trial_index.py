"""Trial index of a run: candidates and observed results, and the history that an optimizer sees."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from burnish.domain import (
    Candidate,
    ExperimentRepository,
    ExperimentStatus,
    ExperimentType,
    Item,
    ItemResult,
    TrialResult,
    UsageError,
)
from burnish.evaluation.broken_items import BrokenItems
from burnish.optimization.checkpoint import Pending
from burnish.optimization.objective import Measures, Objective, Point, Ranking, points_of
from burnish.optimization.search_plan import experiment_id
from burnish.optimization.winner_choice import Refusal

T = TypeVar("T")
_READ_SECONDS = 60.0


class History:
    """The TrialHistory that the orchestrator hands out.

    Later results of a running step are not in it, so a resumed optimizer sees what it saw before.
    """

    def __init__(
        self,
        *,
        experiments: ExperimentRepository,
        items: Mapping[str, Item],
        candidates: Mapping[str, Candidate],
        results: Sequence[TrialResult],
        evaluations_left: int | None = None,
    ) -> None:
        self.evaluations_left = evaluations_left
        self._experiments = experiments
        self._items = items
        self._candidates = dict(candidates)
        self._tried = tuple(r for r in results if r.type is ExperimentType.TRIAL)
        self._mini_batches = tuple(r for r in results if r.type is ExperimentType.MINI_BATCH)
        self._loop = asyncio.get_running_loop()

    @property
    def trials(self) -> Sequence[TrialResult]:
        """Observed trials that ran to their end, the baseline's first."""
        return tuple(one for one in self._tried if one.counts and one.objective_score is not None)

    @property
    def tried(self) -> Sequence[TrialResult]:
        """Observed trials, however they ended."""
        return self._tried

    @property
    def mini_batches(self) -> Sequence[TrialResult]:
        """Observed mini-batches."""
        return self._mini_batches

    def candidate(self, candidate_id: str) -> Candidate:
        """An accepted candidate."""
        if candidate_id not in self._candidates:
            raise UsageError(
                what=f"there is no candidate {candidate_id!r}",
                why="the optimizer asked for one that was never accepted",
                fix="ask for candidates of the history's trials",
                code="unknown_parent",
            )
        return self._candidates[candidate_id]

    def item_results(self, candidate_id: str) -> Sequence[ItemResult]:
        """All observed item results of a candidate; for plain methods, off the event loop."""
        return self._from_thread(self.load_item_results(candidate_id))

    def items(self, item_ids: Sequence[str]) -> Sequence[Item]:
        """Items of the train and validation splits by id."""
        for item_id in item_ids:
            if item_id not in self._items:
                raise UsageError(
                    what=f"there is no item {item_id!r}",
                    why="it is in neither the train nor the validation split",
                    fix="ask for items of the context's splits",
                    code="unknown_item",
                )
        return [self._items[item_id] for item_id in item_ids]

    async def load_item_results(self, candidate_id: str) -> Sequence[ItemResult]:
        """All observed item results of a candidate, each (item, repeat) once.

        An answer counts more than an outage, in whichever order the experiments come.
        """
        found: dict[tuple[str, int], ItemResult] = {}
        for trial in (*self._mini_batches, *self._tried):
            if trial.candidate_id == candidate_id:
                for result in await self._experiments.get_results(trial.experiment_id):
                    key = result.item_id, result.repeat
                    outage = result.error is not None and result.error.kind.outside
                    if key not in found or not outage:
                        found[key] = result
        return [found[key] for key in sorted(found)]

    async def load_items(self, item_ids: Sequence[str]) -> Sequence[Item]:
        """`items` for async methods."""
        return self.items(item_ids)

    def _from_thread(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run_coroutine_threadsafe(work, self._loop).result(_READ_SECONDS)
        work.close()
        raise UsageError(
            what="the history cannot be read this way",
            why="an async optimizer method called the plain `item_results`",
            fix="await history.load_item_results(…) instead",
            code="running_loop",
        )


class TrialIndex:
    """Grows with the run; everything in it is in the repository too."""

    def __init__(self, optimization_id: str, objective: Objective | None = None) -> None:
        self._optimization_id = optimization_id
        self.objective = objective or Objective()
        # The winner by the optimizer's own judgement, if it has one that stands, or why it doesn't.
        self.choice: str | None = None
        self.refusal: Refusal | None = None
        # Winners that held-out items speak against, in the order they were passed over.
        self.passed_over: list[str] = []
        # What became of items that the baseline passes, where they are to be kept: of candidates that
        # break some, and of the winner.
        self.turned_down: dict[str, BrokenItems] = {}
        self.kept: BrokenItems | None = None
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

    def pass_over(self, candidate_id: str) -> None:
        """Have a candidate win no more."""
        self.passed_over.append(candidate_id)
        self._forget_points(candidate_id)

    def turn_down(self, candidate_id: str, broken: BrokenItems) -> None:
        """Have a candidate win no more, because of these items."""
        self.turned_down[candidate_id] = broken
        self._forget_points(candidate_id)

    def _forget_points(self, candidate_id: str) -> None:
        for trial in self.trials_of(self.candidates[candidate_id].configuration.hash):
            self._points.pop(trial.experiment_id, None)

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
            if trial.experiment_id in self._points and trial.candidate_id == self.choice:
                return trial
        return next(iter(self.by_score()), None)

    def by_score(self) -> list[TrialResult]:
        """The trials that can be best, the best by the objective first and then by score."""
        best = self.ranking.best(self._points.values())
        if best is None:
            return []
        order = sorted(self._points.items(), key=lambda one: (one[1] is not best, -one[1].score))
        return [self.trials[key] for key, _ in order]

    def overruled(self) -> TrialResult | None:
        """Who is not the winner though it was chosen, or though its score is the best."""
        if self.refusal is not None:
            return next(one for one in self.by_score() if one.candidate_id == self.refusal.choice)
        best, found = self.best(), self.by_score()
        if best is None or not found or self.objective.weights:
            return None
        return found[0] if (found[0].objective_score or 0) > (best.objective_score or 0) else None

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

    def trials_of(self, configuration_hash: str) -> list[TrialResult]:
        """The observed experiments of a configuration."""
        candidate = self._by_hash.get(configuration_hash)
        known = None if candidate is None else candidate.id
        return [one for one in self.trials.values() if one.candidate_id == known]

    def statuses(self, ended: Sequence[TrialResult] = ()) -> list[ExperimentStatus]:
        """How the trials ended, those of a running step too; the baseline is none."""
        found = {one.experiment_id: one for one in (*self.trials.values(), *ended)}
        return [
            one.status
            for one in found.values()
            if one.type is ExperimentType.TRIAL and not self._is_first(one)
        ]

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
            results=[
                one
                for one in self.as_seen(self.in_order())
                if one.candidate_id not in self.passed_over
            ],
            evaluations_left=evaluations_left,
        )

    def _is_first(self, trial: TrialResult) -> bool:
        return self.candidates[trial.candidate_id].number == 0


def _weighed(trial: TrialResult, ranking: Ranking) -> TrialResult:
    if trial.objective_score is None:
        return trial
    saved = ranking.saved(Measures.of(trial.summary))
    return replace(trial, objective_score=None if saved is None else trial.objective_score + saved)
