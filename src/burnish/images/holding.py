"""Keeping a run's lease while it is carried out, and hearing that it is to be cancelled."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field

from burnish.domain import BurnishError, ConflictError, UnavailableError
from burnish.domain.image_parts import ImageRepository, LeasedRun

_LOOK_SECONDS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """A lease that lasts `seconds` from each sign of life. `nudge` makes it look at once."""

    repository: ImageRepository
    leased: LeasedRun
    seconds: float
    nudge: asyncio.Event = field(default_factory=asyncio.Event)

    async def until_cancel_is_asked(self) -> None:
        """Ends when it is; ConflictError `lease_lost` when somebody else has taken the run."""
        run_id = self.leased.run.run_id
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(self.seconds / 3, _LOOK_SECONDS)):
                    await self.nudge.wait()
            self.nudge.clear()
            # A database that is away for a moment costs nothing as long as the lease lasts.
            with contextlib.suppress(UnavailableError):
                if await self.repository.keep_run(
                    run_id, token=self.leased.token, seconds=self.seconds
                ):
                    return


def is_lost(error: BurnishError | None) -> bool:
    """Whether somebody else has taken the run."""
    return isinstance(error, ConflictError) and error.code == "lease_lost"
