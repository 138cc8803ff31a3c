"""Runs queued optimizations in this process, a bounded number at once, and leaves none behind.

Several executors, in servers and workers on any machine, share one queue: whoever gets the lease runs
it, and whoever dies loses the lease to another. What is given up is gone on with from its checkpoint.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from burnish.app.datasets.stored import with_stored_rows
from burnish.app.optimize.failures import Ending, end_as_failed, ending_of, too_many_attempts
from burnish.app.optimize.optimizations import Optimization
from burnish.app.optimize.run_spec import require_unchanged, stored_settings
from burnish.app.run_tally import RunTally
from burnish.app.wiring import Workspace
from burnish.config.schema import Settings
from burnish.config.search import SearchSpec
from burnish.config.served_project import ServedProject
from burnish.domain import (
    BurnishError,
    InvariantError,
    OptimizationRecord,
    OptimizationStatus,
)
from burnish.domain.run_queue import QueuedRun
from burnish.evaluation.item_runner import describe
from burnish.jobs.queue_watch import QueueWatch
from burnish.optimization import ownership
from burnish.optimization.attempt import MakeAdapter, Sitting
from burnish.optimization.budget_gate import BudgetGate
from burnish.optimization.lease_renewer import LEASE_SECONDS

_log = logging.getLogger("burnish.runs")
_ENDED = (OptimizationStatus.COMPLETED, OptimizationStatus.CANCELLED)
_AGAIN_SECONDS = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorSettings:
    """How many runs at once, how long a lease lasts, and how often the queue is looked at.

    `make_adapter` says where experiments are evaluated; None is this process.
    """

    max_runs: int = 2
    lease_seconds: float = LEASE_SECONDS
    look_seconds: float = 2.0
    max_attempts: int = 10
    make_adapter: MakeAdapter | None = None


class RunExecutor:
    """Takes runs from the queue while the context lasts; what still runs then is given back."""

    def __init__(
        self,
        workspace: Workspace,
        project: ServedProject,
        settings: ExecutorSettings | None = None,
        *,
        tally: RunTally | None = None,
    ) -> None:
        self._workspace = workspace
        self._project = project
        self._settings = settings or ExecutorSettings()
        self.tally = tally or RunTally()
        self._watch = QueueWatch(
            self._fill, name="runs", seconds=self._settings.look_seconds, log=_log
        )
        self._active: dict[str, asyncio.Task[None]] = {}
        self._loop: asyncio.Task[None] | None = None

    @property
    def active(self) -> int:
        """How many run here at the moment."""
        return len(self._active)

    def wake(self) -> None:
        """Look at the queue now."""
        self._watch.wake()

    async def __aenter__(self) -> Self:
        self._loop = asyncio.create_task(self._watch.run(), name="runs")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Stop taking runs, and give back those that go on: their state is saved."""
        tasks = [task for task in (self._loop, *self._active.values()) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _fill(self) -> None:
        room = self._settings.max_runs - len(self._active)
        if room <= 0:
            return
        for one in await self._workspace.queue.waiting():
            if room > 0 and one.optimization_id not in self._active and _can_be_had(one):
                self._start(one.optimization_id)
                room -= 1

    def _start(self, optimization_id: str) -> None:
        task = asyncio.create_task(self._run(optimization_id), name=f"run {optimization_id}")
        self._active[optimization_id] = task

        def ended(_: asyncio.Task[None]) -> None:
            self._active.pop(optimization_id, None)
            self.wake()

        task.add_done_callback(ended)

    async def _run(self, optimization_id: str) -> None:
        queue, context = self._workspace.queue, {"optimization_id": optimization_id}
        try:
            error = await self._attempt(optimization_id)
        except asyncio.CancelledError:
            with contextlib.suppress(BurnishError):
                await asyncio.shield(queue.give_back(optimization_id))
            _log.info("the run is given back", extra=context)
            raise
        except BurnishError as failed:
            error = failed
        except Exception as bug:  # noqa: BLE001 - a run must never end its server
            _log.exception("the run ended in a bug", extra=context)
            error = InvariantError(
                what="the optimization failed",
                why=describe(bug),
                fix="this is a bug in burnish: report it; resuming it tries again",
            )
        try:
            await self._settle(optimization_id, error)
        except BurnishError as failed:
            _log.warning("the run's end cannot be noted: %s", failed, extra=context)

    async def _settle(self, optimization_id: str, error: BurnishError | None) -> None:
        """Take it from the queue when it has ended, and say why when it cannot be run."""
        queue, context = self._workspace.queue, {"optimization_id": optimization_id}
        record = await self._workspace.optimizations.get_optimization(optimization_id)
        ending = ending_of(record, error)
        if error is not None:
            _log.warning("the run stopped: %s", error, extra=context)
        if ending is Ending.ELSEWHERE:
            await queue.give_back(optimization_id, seconds=self._settings.look_seconds)
        elif ending is Ending.LATER:
            await queue.give_back(optimization_id, seconds=_AGAIN_SECONDS)
        else:
            if ending is Ending.IMPOSSIBLE and error is not None:
                await end_as_failed(self._workspace.optimizations, record, error)
            if record.status in _ENDED:
                await queue.remove(optimization_id)
            else:
                # Whoever saw that it failed may have asked for it again by now.
                await queue.finish(optimization_id)
            _log.info("the run has ended", extra={**context, "status": record.status.value})

    async def _attempt(self, optimization_id: str) -> BurnishError | None:
        record = await self._workspace.optimizations.get_optimization(optimization_id)
        if record.status in _ENDED:
            return None
        attempts = await self._workspace.queue.begin(optimization_id)
        if attempts == 0:  # Somebody took it from the queue.
            return None
        if attempts > self._settings.max_attempts:
            return too_many_attempts(optimization_id, attempts - 1)
        _log.info("the run begins", extra={"optimization_id": optimization_id, "attempt": attempts})
        settings = stored_settings(record, self._project.folder).placed_in(self._project.folder)
        settings = settings.reaching(self._project.urls)
        await asyncio.to_thread(self._project.require_own, settings)
        settings = await with_stored_rows(self._workspace, settings)
        await self._sit(record, settings)
        return None

    async def _sit(self, record: OptimizationRecord, settings: Settings) -> None:
        own = self._workspace.beside(settings.models, saved=self.tally.add)
        gates: list[BudgetGate] = []

        def watch(sitting: Sitting) -> None:
            gates.append(sitting.gate)
            self.tally.watch(sitting.gate, (record.checkpoint or {}).get("own_spending") or {})

        try:
            optimization = await asyncio.to_thread(self._build, own, settings)
            try:
                require_unchanged(record, optimization)
                await optimization.run(record.id, watch=watch)
            finally:
                await optimization.close()
        finally:
            for gate in gates:
                self.tally.release(gate)
            await own.models.close()

    def _build(self, workspace: Workspace, settings: Settings) -> Optimization:
        return Optimization(
            workspace,
            settings.agent_spec(),
            settings.suite_spec(),
            SearchSpec.of(settings.optimizer),
            settings.budget_spec(),
            lease_seconds=self._settings.lease_seconds,
            make_adapter=self._settings.make_adapter,
        )


def _can_be_had(one: QueuedRun) -> bool:
    return one.free or (one.lease_owner is not None and ownership.is_dead(one.lease_owner))
