"""Deadlines of work that may stand in a queue: their time stands still while it waits there."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass(eq=False, slots=True)
class _Clock:
    timeout: asyncio.Timeout
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    waiting: int = 0
    left: float = 0.0

    def add(self, waiting: int) -> None:
        """The first who waits stops it, the last sets it going again."""
        self.waiting += waiting
        with contextlib.suppress(RuntimeError):  # it is over already
            if self.waiting == waiting == 1:
                self.left = (self.timeout.when() or 0.0) - self.loop.time()
                self.timeout.reschedule(None)
            elif self.waiting == 0:
                self.timeout.reschedule(self.loop.time() + self.left)


_clocks: ContextVar[tuple[_Clock, ...]] = ContextVar("burnish_deadlines", default=())


@contextlib.asynccontextmanager
async def deadline(seconds: float | None) -> AsyncIterator[asyncio.Timeout]:
    """As `asyncio.timeout`, but time within `waiting` does not count, in tasks made here too."""
    async with asyncio.timeout(seconds) as timeout:
        own = () if seconds is None else (_Clock(timeout),)
        token = _clocks.set((*_clocks.get(), *own))
        try:
            yield timeout
        finally:
            _clocks.reset(token)


def is_cancelled() -> bool:
    """Whether the running task was asked to end; a CancelledError may also come from within it."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


@contextlib.contextmanager
def waiting() -> Iterator[None]:
    """Stop the time of all deadlines around; whoever waits needs a bound of its own."""
    loop = asyncio.get_running_loop()
    clocks = [clock for clock in _clocks.get() if clock.loop is loop]
    for clock in clocks:
        clock.add(1)
    try:
        yield
    finally:
        for clock in clocks:
            clock.add(-1)
