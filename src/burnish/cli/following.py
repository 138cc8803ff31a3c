"""Reads the events of a search into its watch, while it goes on."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from burnish.cli.search_watch import EndedTrial, SearchWatch
from burnish.domain import (
    BurnishError,
    Event,
    EventType,
    ExperimentStatus,
    ExperimentType,
    OptimizationRepository,
)

_PAGE = 1000
_LOOK_SECONDS = 0.5


@contextlib.asynccontextmanager
async def following(
    optimizations: OptimizationRepository, optimization_id: str, watch: SearchWatch
) -> AsyncIterator[None]:
    """Keep the watch up to date within the block. A display's trouble is never the search's."""
    follower = _Follower(optimizations, optimization_id, watch)
    await follower.look()
    watch.ended_before = frozenset(watch.ended)
    task = asyncio.create_task(follower.go_on())
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError, BurnishError):
            await task
        with contextlib.suppress(BurnishError):
            await follower.look()


class _Follower:
    def __init__(
        self, optimizations: OptimizationRepository, optimization_id: str, watch: SearchWatch
    ) -> None:
        self._optimizations = optimizations
        self._id = optimization_id
        self._watch = watch
        self._seen = 0

    async def go_on(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            with contextlib.suppress(BurnishError):
                await self.look()

    async def look(self) -> None:
        while True:
            events = await self._optimizations.list_events(self._id, after=self._seen, limit=_PAGE)
            for event in events:
                if event.type is EventType.TRIAL_ADDED_OR_UPDATED:
                    await self._note(event)
            if events:
                self._seen = events[-1].sequence
            if len(events) < _PAGE:
                return

    async def _note(self, event: Event) -> None:
        payload = event.payload
        if payload["type"] != ExperimentType.TRIAL.value:
            return
        status = ExperimentStatus(payload["status"])
        experiment_id = payload["experiment_id"]
        self._watch.started.add(experiment_id)
        if not status.final:
            # A baseline that failed in an earlier sitting is run again.
            self._watch.ended.pop(experiment_id, None)
            self._watch.ended_before -= {experiment_id}
            return
        self._watch.ended[experiment_id] = EndedTrial(
            experiment_id=experiment_id,
            candidate_id=payload["candidate_id"],
            number=payload["number"],
            status=status,
            score=payload["objective_score"],
            error=await self._why(experiment_id) if status is ExperimentStatus.FAILED else None,
        )

    async def _why(self, experiment_id: str) -> str | None:
        trials = await self._optimizations.list_trials(self._id)
        return next((one.error for one in trials if one.experiment_id == experiment_id), None)
