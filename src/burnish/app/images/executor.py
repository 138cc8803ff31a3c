"""Runs queued image runs in this process, all under one bound on model calls, and leaves none behind.

Several executors share one queue: whoever gets a run's lease carries it out, and whoever dies loses it
to another, who does what is still missing. What waits is as many runs as the bound has places for and
more, so that there is always a call to make while another run writes or decodes.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

from burnish.app.images.attempt import LEASE_SECONDS, ImageSitting
from burnish.app.images.runs import ImageRuns
from burnish.app.wiring import Workspace
from burnish.domain import BurnishError, ConflictError
from burnish.domain.image_parts import LeasedRun
from burnish.domain.images import ImageRunStatus
from burnish.jobs.queue_watch import QueueWatch
from burnish.optimization import ownership

_log = logging.getLogger("burnish.images")
_AGAIN_SECONDS = 15.0
_RUNS_A_CALL = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageExecutorSettings:
    """How many runs at once, how long one is held without a sign of life, how often to look.

    How many calls they make at once is `max_calls` of `[images]`; without `max_runs` it is twice that.
    """

    max_runs: int | None = None
    lease_seconds: float = LEASE_SECONDS
    look_seconds: float = 2.0
    max_attempts: int = 5


class ImageExecutor:
    """Takes runs from the queue while the context lasts; what still runs is given back."""

    def __init__(
        self,
        workspace: Workspace,
        images: ImageRuns,
        settings: ImageExecutorSettings | None = None,
    ) -> None:
        self._repository = workspace.images
        self._images = images
        self._settings = settings or ImageExecutorSettings()
        self._max_runs = self._settings.max_runs or images.calls.limit * _RUNS_A_CALL
        self._owner = ownership.new_owner()
        self._sitting = ImageSitting(images, lease_seconds=self._settings.lease_seconds)
        self._watch = QueueWatch(
            self._fill, name="image runs", seconds=self._settings.look_seconds, log=_log
        )
        self._active: set[asyncio.Task[None]] = set()
        self._loop: asyncio.Task[None] | None = None

    @property
    def active(self) -> int:
        """How many run here at the moment."""
        return len(self._active)

    def wake(self) -> None:
        """Look at the queue now."""
        self._watch.wake()

    async def __aenter__(self) -> Self:
        # Before anybody asks for anything: loading takes the processor from whoever waits then.
        table = self._images.models.settings.table
        await self._images.models.load(table.image_model, table.judge_model)
        self._loop = asyncio.create_task(self._watch.run(), name="image runs")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        tasks = [task for task in (self._loop, *self._active) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _fill(self) -> None:
        while len(self._active) < self._max_runs:
            leased = await self._take()
            if leased is None:
                return
            task = asyncio.create_task(self._run(leased), name=f"image run {leased.run.run_id}")
            self._active.add(task)
            task.add_done_callback(self._ended)

    async def _take(self) -> LeasedRun | None:
        taking = asyncio.ensure_future(
            self._repository.take_run(owner=self._owner, seconds=self._settings.lease_seconds)
        )
        try:
            return await asyncio.shield(taking)
        except asyncio.CancelledError:
            # Taken in the moment of the end: else nobody could have it until the lease expires.
            with contextlib.suppress(BurnishError):
                if (leased := await taking) is not None:
                    await self._repository.release_run(leased.run.run_id, token=leased.token)
            raise

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._active.discard(task)
        self.wake()

    async def _run(self, leased: LeasedRun) -> None:
        context = {"run_id": leased.run.run_id}
        try:
            if leased.attempts > self._settings.max_attempts:
                await self._give_up(leased)
            else:
                await self._sitting.carry_out(leased)
        except BurnishError as error:
            _log.warning("an image run goes on later: %s", error, extra=context)
            await self._later(leased)
        except Exception:  # noqa: BLE001 - a run must never end its server
            _log.exception("an image run left its executor by a bug", extra=context)
            await self._later(leased)

    async def _later(self, leased: LeasedRun) -> None:
        """Whoever takes it then counts an attempt; till then nobody has it."""
        with contextlib.suppress(BurnishError):
            await self._repository.keep_run(
                leased.run.run_id, token=leased.token, seconds=_AGAIN_SECONDS
            )

    async def _give_up(self, leased: LeasedRun) -> None:
        error = ConflictError(
            what=f"the image run {leased.run.run_id} is not tried again",
            why=f"it was begun {leased.attempts - 1} times, and never came to its end",
            fix="find out in the logs why, such as memory or a disk that is full; then run it anew",
            code="too_many_attempts",
        )
        failed = replace(leased.run, status=ImageRunStatus.FAILED, error=error.to_json())
        self._images.tell(await self._repository.save_run(failed, token=leased.token))
