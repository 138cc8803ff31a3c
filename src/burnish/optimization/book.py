"""The candidates and observed results of a run, as the orchestrator knows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

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
from burnish.optimization.plan import experiment_id
from burnish.optimization.standing import best_trial

_SCORED = (ExperimentStatus.COMPLETED, ExperimentStatus.PRUNED)


class Book:
    """Grows with the run; everything in it is in the repository too."""

    def __init__(self, optimization_id: str) -> None:
        self._optimization_id = optimization_id
        self.candidates: dict[str, Candidate] = {}
        self.trials: dict[str, TrialResult] = {}
        self._by_hash: dict[str, Candidate] = {}

    def add_candidates(self, candidates: Iterable[Candidate]) -> None:
        """Note accepted candidates; known ones stay as they are."""
        for one in candidates:
            self.candidates.setdefault(one.id, one)
            self._by_hash.setdefault(one.configuration.hash, one)

    def observe(self, results: Iterable[TrialResult]) -> None:
        """Note results that the optimizer is about to hear of."""
        self.trials.update({one.experiment_id: one for one in results})

    def best(self) -> TrialResult | None:
        """The best trial so far."""
        return best_trial(list(self.trials.values()), self.candidates)

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
            results=self.in_order(),
            evaluations_left=evaluations_left,
        )

    def _is_first(self, trial: TrialResult) -> bool:
        return self.candidates[trial.candidate_id].number == 0
