"""Time that passes only when everybody waits for it."""

from __future__ import annotations

import asyncio
import heapq
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any


class FakeClock:
    """A clock for tests: a sleep takes no real time, and the order of waking is always the same.

    Time moves on once no task of the event loop can run any more, and then to the earliest moment
    that somebody sleeps for; sleepers of one moment wake in the order they lay down. Work that the
    loop cannot see, in threads or sockets, does not hold time back.
    """

    def __init__(self, start: datetime | None = None) -> None:
        self._start = start or datetime(2026, 1, 1, tzinfo=UTC)
        self._elapsed = 0.0
        self._order = count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._watching = False
        self.sleeps: list[float] = []

    def monotonic(self) -> float:
        """Virtual seconds since the clock was made."""
        return self._elapsed

    def now(self) -> datetime:
        """The virtual moment in UTC."""
        return self._start + timedelta(seconds=self._elapsed)

    async def sleep(self, seconds: float) -> None:
        """Wait until virtual time has moved on so far; `sleeps` remembers how long."""
        self.sleeps.append(seconds)
        loop = asyncio.get_running_loop()
        waker: asyncio.Future[None] = loop.create_future()
        due = self._elapsed + max(0.0, seconds)
        heapq.heappush(self._sleepers, (due, next(self._order), waker))
        if not self._watching:
            self._watching = True
            loop.call_soon(self._watch, loop)
        await waker

    def advance(self, seconds: float) -> None:
        """Move time on at once, without waking anybody before the loop runs again."""
        self._elapsed += seconds

    def _watch(self, loop: Any) -> None:
        # Only the loop knows whether any task can still run, and asyncio has no public way to ask.
        if not loop._ready:  # noqa: SLF001
            self._wake_next()
        self._watching = bool(self._sleepers)
        if self._watching:
            loop.call_soon(self._watch, loop)

    def _wake_next(self) -> None:
        while self._sleepers:
            due, _, waker = heapq.heappop(self._sleepers)
            if not waker.done():
                self._elapsed = max(self._elapsed, due)
                waker.set_result(None)
                return
