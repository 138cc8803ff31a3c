"""What an optimizer may look at: observed results, and their details on demand."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from burnish.domain import (
    Candidate,
    ExperimentRepository,
    ExperimentType,
    Item,
    ItemResult,
    TrialResult,
    UsageError,
)

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
        self._trials = tuple(r for r in results if r.type is ExperimentType.TRIAL)
        self._mini_batches = tuple(r for r in results if r.type is ExperimentType.MINI_BATCH)
        self._loop = asyncio.get_running_loop()

    @property
    def trials(self) -> Sequence[TrialResult]:
        """Observed trials, the baseline's first."""
        return self._trials

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
        return [self._items[item_id] for item_id in item_ids]

    async def load_item_results(self, candidate_id: str) -> Sequence[ItemResult]:
        """All observed item results of a candidate, each (item, repeat) once.

        An answer counts more than an outage, in whichever order the experiments come.
        """
        found: dict[tuple[str, int], ItemResult] = {}
        for trial in (*self._mini_batches, *self._trials):
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
