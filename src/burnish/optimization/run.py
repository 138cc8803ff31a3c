"""One sitting of an optimization: takes the lease, runs it, and leaves it in a clear state."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from burnish.domain import (
    BurnishError,
    ConflictError,
    InvariantError,
    Lease,
    OptimizationRecord,
    OptimizationStatus,
    StopReason,
    UsageError,
)
from burnish.evaluation.item_runner import describe
from burnish.optimization import events, ownership
from burnish.optimization.attempt import Job, Sitting
from burnish.optimization.checkpoint import Checkpoint
from burnish.optimization.lease_renewer import LeaseKeeper


class OptimizationDriver:
    """Runs or resumes one optimization to its end, or until it is interrupted."""

    def __init__(self, job: Job, *, watch: Callable[[Sitting], None] | None = None) -> None:
        self._job = job
        self._watch = watch

    async def run(self) -> OptimizationRecord:
        """The record at the end. Raises ConflictError when somebody else owns the run."""
        record = await self._job.stores.optimizations.get_optimization(
            self._job.plan.optimization_id
        )
        if record.status is OptimizationStatus.COMPLETED:
            return record
        if record.status is OptimizationStatus.CANCELLED:
            raise UsageError(
                what=f"optimization {record.id} cannot go on",
                why="it was cancelled",
                fix="start a new one; results that are there are reused",
                code="cancelled",
            )
        lease = await self._take_lease(record)
        try:
            await self._run_leased(lease)
        except BurnishError:
            # A full disk, say, keeps the lease from being given back; the next try must not wait.
            ownership.note_end(lease.owner)
            raise
        except asyncio.CancelledError:
            with contextlib.suppress(BurnishError):
                await asyncio.shield(self._job.stores.optimizations.release_lease(lease))
            raise
        return await self._job.stores.optimizations.get_optimization(record.id)

    async def _take_lease(self, record: OptimizationRecord) -> Lease:
        dead = record.lease_owner
        return await self._job.stores.optimizations.acquire_lease(
            record.id,
            owner=ownership.new_owner(),
            seconds=self._job.settings.lease_seconds,
            replacing=dead if dead is not None and ownership.is_dead(dead) else None,
        )

    async def _run_leased(self, lease: Lease) -> None:
        repository = self._job.stores.optimizations
        try:
            record = await repository.get_optimization(lease.job_id)
            sitting = Sitting(self._job, lease, Checkpoint.of(record.checkpoint))
            if self._watch is not None:
                self._watch(sitting)
            try:
                async with self._keeper(lease, sitting):
                    await sitting.run()
            finally:
                await sitting.close()
        except ConflictError as error:
            if error.code != "checkpoint_version":
                raise
            await self._fail(lease, error)
            raise
        except BurnishError as error:
            await self._fail(lease, error)
            raise
        except Exception as error:
            bug = InvariantError(
                what="the optimization failed",
                why=describe(error),
                fix="this is a bug in burnish: report it; `burnish resume` tries again",
            )
            await self._fail(lease, bug)
            raise bug from error

    def _keeper(self, lease: Lease, sitting: Sitting) -> LeaseKeeper:
        repository = self._job.stores.optimizations

        async def beat(number: int) -> None:
            event = events.heartbeat(
                sitting.orchestrator.counters(), sitting=lease.token, number=number
            )
            await repository.append_events(lease, [event])

        return LeaseKeeper(
            repository,
            lease,
            on_stop=sitting.ask_to_stop,
            on_beat=beat,
            seconds=self._job.settings.lease_seconds,
        )

    async def _fail(self, lease: Lease, error: BurnishError) -> None:
        """Leave a clear state behind, if the database still takes it."""
        with contextlib.suppress(BurnishError):
            await self._job.stores.optimizations.save_status(
                lease,
                OptimizationStatus.FAILED,
                stop_reason=StopReason.ERROR.value,
                framework_error=error.to_json(),
                events=[
                    events.status_changed(OptimizationStatus.FAILED, sitting=lease.token),
                    events.run_finished(OptimizationStatus.FAILED, "error", sitting=lease.token),
                ],
            )
            await self._job.stores.optimizations.release_lease(lease)
