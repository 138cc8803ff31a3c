"""One run carried out in this process, or followed while another process carries it out."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from burnish.domain import BurnishError
from burnish.domain.image_parts import LeasedRun
from burnish.domain.images import ImageRun
from burnish.optimization import ownership

if TYPE_CHECKING:
    from burnish.app.images.runs import ImageRuns

LEASE_SECONDS = 30.0
_LOOK_SECONDS = 0.5


class ImageSitting:
    """Carries out runs for whoever waits for them. What it cannot end, it gives back."""

    def __init__(
        self,
        images: ImageRuns,
        progress: Callable[[ImageRun], None] | None = None,
        *,
        lease_seconds: float = LEASE_SECONDS,
    ) -> None:
        self._images = images
        self._progress = progress
        self._seconds = lease_seconds
        self._owner = ownership.new_owner()

    async def execute(self, run_id: str) -> ImageRun:
        """The run once it has ended, here or elsewhere."""
        repository, seen = self._images.repository, -1
        while True:
            leased = await repository.take_this_run(
                run_id, owner=self._owner, seconds=self._seconds
            )
            if leased is not None:
                ended = await self._carry_out_or_release(leased)
                if ended is not None:
                    return ended
            run = await repository.run(run_id)
            if run.revision != seen and self._progress is not None:
                self._progress(run)
            if run.status.ended:
                return run
            seen = run.revision
            await asyncio.sleep(_LOOK_SECONDS)

    async def _carry_out_or_release(self, leased: LeasedRun) -> ImageRun | None:
        try:
            return await self.carry_out(leased)
        except BurnishError:
            # Its record cannot be written now: whoever goes on with it later need not wait.
            with contextlib.suppress(BurnishError):
                await self._images.repository.release_run(leased.run.run_id, token=leased.token)
            raise

    async def carry_out(self, leased: LeasedRun) -> ImageRun | None:
        """To its end; None when somebody else has taken it. Stopped, it is given back."""
        images, run_id = self._images, leased.run.run_id
        nudge = images.nudges[run_id] = asyncio.Event()
        try:
            return await images.pipeline(self._progress).run(
                leased, seconds=self._seconds, nudge=nudge
            )
        except asyncio.CancelledError:
            with contextlib.suppress(BurnishError):
                await asyncio.shield(images.repository.release_run(run_id, token=leased.token))
            raise
        finally:
            if images.nudges.get(run_id) is nudge:
                del images.nudges[run_id]
