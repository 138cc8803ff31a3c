"""One bound on model calls over all runs."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count


class CallBound:
    """Lets at most `limit` calls go on at once. Who waits gets a free place at once, those of the
    smallest `order` first, and equal ones as they came; a waiter that is cancelled takes none."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.in_flight = 0
        self._came = count()
        self._waiting: list[tuple[tuple[str, ...], int, asyncio.Future[None]]] = []

    @asynccontextmanager
    async def slot(self, order: tuple[str, ...] = ()) -> AsyncIterator[None]:
        """Wait for a turn; the place is free again at the end of the block."""
        await self._enter(order)
        try:
            yield
        finally:
            self._leave()

    async def _enter(self, order: tuple[str, ...]) -> None:
        if self.in_flight < self.limit:
            self.in_flight += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (order, next(self._came), turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._leave()  # The place was given in the moment of the cancellation.
            raise

    def _leave(self) -> None:
        while self._waiting:
            _, _, turn = heapq.heappop(self._waiting)
            if not turn.done():
                turn.set_result(None)  # The place goes over, so nobody else can take it.
                return
        self.in_flight -= 1
