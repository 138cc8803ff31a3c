"""Executor for queued optimizations."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from burnish.app.datasets.stored import with_stored_rows
from burnish.app.optimize.optimizations import Optimization
from burnish.app.optimize.run_spec import require_unchanged, stored_settings
from burnish.app.run_tally import RunTally
from burnish.app.wiring import Workspace
from burnish.config.schema import Settings
from burnish.config.served_project import ServedProject
from burnish.domain import BurnishError, OptimizationRecord, OptimizationStatus, StopReason
from burnish.domain.jobs import Job
from burnish.jobs.executor import ExecutorSettings, JobExecutor
from burnish.optimization import events
from burnish.optimization.attempt import Attempt, MakeAdapter
from burnish.optimization.budget_gate import BudgetGate
from burnish.optimization.run import OptimizationDriver

_ENDED = (OptimizationStatus.COMPLETED, OptimizationStatus.CANCELLED)


class OptimizationRunner:
    """Runs an optimization from its checkpoint, under the settings that it was started with."""

    noun = "run"
    id_name = "optimization_id"

    def __init__(
        self,
        workspace: Workspace,
        project: ServedProject,
        tally: RunTally,
        make_adapter: MakeAdapter | None,
    ) -> None:
        self._workspace = workspace
        self._project = project
        self._tally = tally
        self._make_adapter = make_adapter
        self._drivers: dict[str, OptimizationDriver] = {}

    async def run(self, job: Job, cancelled: asyncio.Event) -> None:
        """To its end; how it ended, also when it failed by itself, stands in its record."""
        record = await self._workspace.optimizations.get_optimization(job.lease.job_id)
        if record.status in _ENDED:
            return
        folder = self._project.folder
        settings = stored_settings(record, folder).placed_in(folder).reaching(self._project.urls)
        await asyncio.to_thread(self._project.require_own, settings)
        settings = await with_stored_rows(self._workspace, settings)
        try:
            await self._drive(job, record, settings, cancelled)
        except BurnishError:
            now = await self._workspace.optimizations.get_optimization(job.lease.job_id)
            if not now.status.final or now.framework_error is None:
                raise

    async def renewed(self, job: Job, number: int) -> None:
        """Tell whoever watches that it goes on."""
        if (driver := self._drivers.get(job.lease.job_id)) is not None:
            await driver.heartbeat(number)

    async def fail(self, job: Job, error: BurnishError) -> None:
        """Say on the record why it could not be run, unless that says it already."""
        record = await self._workspace.optimizations.get_optimization(job.lease.job_id)
        if record.status.final:
            return
        status, token = OptimizationStatus.FAILED, job.lease.token
        await self._workspace.optimizations.save_status(
            job.lease,
            status,
            stop_reason=StopReason.ERROR.value,
            framework_error=error.to_json(),
            events=[
                events.status_changed(status, attempt=token),
                events.run_finished(status, StopReason.ERROR.value, attempt=token),
            ],
        )

    async def give_back(self, job: Job) -> None:
        """Its checkpoint says where to go on."""

    async def _drive(
        self, job: Job, record: OptimizationRecord, settings: Settings, cancelled: asyncio.Event
    ) -> None:
        own = self._workspace.beside(settings.models, saved=self._tally.add)
        gates: list[BudgetGate] = []

        def watch(attempt: Attempt) -> None:
            gates.append(attempt.gate)
            self._tally.watch(attempt.gate, (record.checkpoint or {}).get("own_spending") or {})

        try:
            optimization = await asyncio.to_thread(
                Optimization.of_settings, own, settings, make_adapter=self._make_adapter
            )
            try:
                require_unchanged(record, optimization)
                driver = await optimization.driver(record, job.lease, watch)
                self._drivers[record.id] = driver
                async with _stopped_when(cancelled, driver):
                    await driver.run()
            finally:
                self._drivers.pop(record.id, None)
                await optimization.close()
        finally:
            for gate in gates:
                self._tally.release(gate)
            await own.models.close()


@contextlib.asynccontextmanager
async def _stopped_when(
    cancelled: asyncio.Event, driver: OptimizationDriver
) -> AsyncIterator[None]:
    async def stop() -> None:
        await cancelled.wait()
        await driver.ask_to_stop()

    task = asyncio.create_task(stop())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


class RunExecutor(JobExecutor):
    """Runs the optimizations of a workspace; `make_adapter` says where experiments are evaluated."""

    def __init__(
        self,
        workspace: Workspace,
        project: ServedProject,
        settings: ExecutorSettings | None = None,
        *,
        tally: RunTally | None = None,
        make_adapter: MakeAdapter | None = None,
    ) -> None:
        self.tally = tally or RunTally()
        runner = OptimizationRunner(workspace, project, self.tally, make_adapter)
        super().__init__(workspace.run_jobs, runner, settings)
