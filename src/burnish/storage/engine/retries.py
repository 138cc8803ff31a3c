"""Doing the same work again while a failure is a passing one."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from burnish.domain import Clock
from burnish.storage.engine.failures import Passing, passing

T = TypeVar("T")

_FIRST_DELAY = 0.05
_LONGEST_DELAY = 2.0


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to go on by kind of failure, in seconds from the first attempt."""

    busy_seconds: float
    lost_seconds: float

    def covers(self, kind: Passing | None, elapsed: float) -> bool:
        """Whether another attempt may be made."""
        if kind is None:
            return False
        return elapsed < (self.busy_seconds if kind is Passing.BUSY else self.lost_seconds)


async def persist(work: Callable[[], Awaitable[T]], patience: Patience, clock: Clock) -> T:
    """The work's result, or the error of the last attempt. The work must bear being repeated."""
    start = clock.monotonic()
    delay = _FIRST_DELAY
    while True:
        try:
            return await work()
        except Exception as error:
            if not patience.covers(passing(error), clock.monotonic() - start):
                raise
        # Half fixed, half drawn: those who failed together do not come back together.
        await clock.sleep(delay / 2 + random.random() * delay / 2)  # noqa: S311
        delay = min(delay * 2, _LONGEST_DELAY)
