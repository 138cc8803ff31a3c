"""Queued runs as a loop of a worker, beside those that serve mailboxes."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from burnish.app.evaluate.executor import EvaluationExecutor
from burnish.app.optimize.executor import RunExecutor
from burnish.runtime.loops.mailbox_loop import BEAT_SECONDS
from burnish.runtime.loops.worker_loop import LoopState, WorkerLoop


class RunLoop(WorkerLoop):
    """Takes runs that servers have queued in the database; what it cannot end it gives back.

    Evaluations that servers have queued are run beside them.
    """

    def __init__(self, executor: RunExecutor, evaluations: EvaluationExecutor) -> None:
        super().__init__(name="runs", requests=None)
        self._executor = executor
        self._evaluations = evaluations

    async def run(
        self,
        *,
        max_iterations: int | None = None,
        visibility_timeout: float = 300,
        wait_time_seconds: float = 20,
    ) -> None:
        """Run until `shutdown`; the numbers are those of mailboxes, and say nothing here."""
        del max_iterations, visibility_timeout, wait_time_seconds
        self._state = LoopState.RUNNING
        try:
            async with self._executor, self._evaluations:
                while not self._stopping.is_set():
                    self._beat()
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(BEAT_SECONDS):
                            await self._stopping.wait()
        finally:
            self._state = LoopState.STOPPED
            self._stopped.set()

    async def shutdown(self, *, timeout: float = 30.0) -> bool:
        """Give back what runs: it is saved, and whoever takes it goes on from there."""
        self._stopping.set()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await self._stopped.wait()
        return self._stopped.is_set()

    def status(self) -> dict[str, Any]:
        """What people and probes want to know."""
        return {**super().status(), "in_work": self._executor.active}
