"""One optimization run under a lease that its caller keeps, and left in a clear state."""

from __future__ import annotations

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
)
from burnish.evaluation.item_runner import describe
from burnish.optimization import events
from burnish.optimization.attempt import Attempt, RunInputs
from burnish.optimization.checkpoint import Checkpoint


class OptimizationDriver:
    """Runs or resumes one optimization to its end, or until it is interrupted.

    `record` was read under the lease, or before and is known not to have changed.
    """

    def __init__(
        self,
        inputs: RunInputs,
        lease: Lease,
        record: OptimizationRecord,
        *,
        watch: Callable[[Attempt], None] | None = None,
    ) -> None:
        self._inputs = inputs
        self._lease = lease
        self._record = record
        self._watch = watch
        self._attempt: Attempt | None = None
        self._stop_asked = False

    async def run(self) -> None:
        """Raises ConflictError when somebody else has taken the lease."""
        lease = self._lease
        try:
            checkpoint = Checkpoint.of(self._record.checkpoint)
            attempt = self._attempt = Attempt(self._inputs, lease, checkpoint)
            if self._watch is not None:
                self._watch(attempt)
            try:
                if self._stop_asked:
                    await attempt.ask_to_stop()
                await attempt.run(self._record.status)
            finally:
                await attempt.close()
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

    async def ask_to_stop(self) -> None:
        """End it as cancelled."""
        self._stop_asked = True
        if self._attempt is not None:
            await self._attempt.ask_to_stop()

    async def heartbeat(self, number: int) -> None:
        """Tell whoever watches that it goes on, with each renewal of the lease."""
        if self._attempt is not None:
            counters = self._attempt.orchestrator.counters()
            event = events.heartbeat(counters, attempt=self._lease.token, number=number)
            await self._inputs.stores.optimizations.append_events(self._lease, [event])

    async def _fail(self, lease: Lease, error: BurnishError) -> None:
        """Leave a clear state behind, if the database still takes it."""
        with contextlib.suppress(BurnishError):
            await self._inputs.stores.optimizations.save_status(
                lease,
                OptimizationStatus.FAILED,
                stop_reason=StopReason.ERROR.value,
                framework_error=error.to_json(),
                events=[
                    events.status_changed(OptimizationStatus.FAILED, attempt=lease.token),
                    events.run_finished(OptimizationStatus.FAILED, "error", attempt=lease.token),
                ],
            )
