"""Shard guard: whether a shard is still to be worked on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from burnish.domain import (
    BurnishError,
    Experiment,
    ExperimentRepository,
    Item,
    ItemResult,
    OptimizationRepository,
    UnavailableError,
)
from burnish.evaluation.gates import OpenGate
from burnish.runtime.shards.messages import ShardRequest

STOPPING = "worker_stopping"
# Each so many looks at the experiment, one at the lease: its row is the larger one.
_LEASE_EVERY = 5


class ShardGuard(OpenGate):
    """The gate of a shard's evaluation: no budget, that is the asking side's, but an end.

    Work ends at once when nobody wants it any more: the experiment has ended, or the run that asked
    was stopped or replaced. When the worker stops, what runs ends and nothing new begins.
    """

    def __init__(
        self,
        request: ShardRequest,
        experiments: ExperimentRepository,
        optimizations: OptimizationRepository,
        stopping: asyncio.Event | None,
        *,
        on_end: Callable[[int], None] = lambda _: None,
    ) -> None:
        self.request = request
        self.unwanted = False
        # As the database last had it.
        self.experiment: Experiment | None = None
        # Runs that have not ended.
        self.open = len(request.pairs)
        self._on_end = on_end
        self._experiments = experiments
        self._optimizations = optimizations
        self._stopping = stopping

    def admit(self, item: Item, repeat: int) -> None:
        """Unless the worker stops."""
        self.require_going_on()

    def record(self, result: ItemResult) -> None:
        """One more is through."""
        self.open -= 1
        self._on_end(1)

    def require_going_on(self) -> None:
        """Raise when the worker stops."""
        if self._stopping is not None and self._stopping.is_set():
            raise UnavailableError(
                what="a worker gave its work back",
                why="it is shutting down",
                fix="leave it to another worker",
                code=STOPPING,
            )

    async def is_wanted(self) -> bool:
        """Whether the asking run still waits for it."""
        record = await self._optimizations.get_optimization(self.request.optimization_id)
        return record.lease_owner == self.request.lease_owner and await self._is_open()

    async def watch(self, work: asyncio.Future[None], *, every: float) -> None:
        """Cancel the work once nobody wants it."""
        looks = 0
        while True:
            await asyncio.sleep(every)
            looks += 1
            try:
                look = self._is_open if looks % _LEASE_EVERY else self.is_wanted
                wanted = await look()
            except BurnishError:
                continue  # The database is away; writes will tell.
            if not wanted:
                self.unwanted = True
                work.cancel()
                return

    async def _is_open(self) -> bool:
        self.experiment = await self._experiments.get_experiment(self.request.experiment_id)
        return not self.experiment.status.final
