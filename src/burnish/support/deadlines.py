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

    def stop(self) -> None:
        self.waiting += 1
        if self.waiting == 1 and (when := self.timeout.when()) is not None:
            self.left = when - self.loop.time()
            self._set(None)

    def go_on(self) -> None:
        self.waiting -= 1
        if not self.waiting:
            self._set(self.loop.time() + self.left)

    def _set(self, when: float | None) -> None:
        with contextlib.suppress(RuntimeError):  # it is over already
            self.timeout.reschedule(when)


_clocks: ContextVar[tuple[_Clock, ...]] = ContextVar("burnish_deadlines", default=())


@contextlib.asynccontextmanager
async def deadline(seconds: float | None) -> AsyncIterator[asyncio.Timeout]:
    """As `asyncio.timeout`, but time within `waiting` does not count, in tasks made here too."""
    async with asyncio.timeout(seconds) as timeout:
        if seconds is None:
            yield timeout
            return
        token = _clocks.set((*_clocks.get(), _Clock(timeout)))
        try:
            yield timeout
        finally:
            _clocks.reset(token)


@contextlib.contextmanager
def waiting() -> Iterator[None]:
    """Stop the time of all deadlines around; whoever waits needs a bound of its own."""
    loop = asyncio.get_running_loop()
    clocks = [clock for clock in _clocks.get() if clock.loop is loop]
    for clock in clocks:
        clock.stop()
    try:
        yield
    finally:
        for clock in clocks:
            clock.go_on()
