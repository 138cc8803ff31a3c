"""How much a worker has in hand, and whether it should take more."""

from __future__ import annotations

import asyncio


class Workload:
    """Counts runs that were taken and have not ended.

    A worker takes the next shard when half of its places are about to be free: early enough that no
    place stays empty while it is fetched, and late enough that other workers get theirs first.
    """

    def __init__(self, places: int) -> None:
        self._enough = places // 2
        self._open = 0
        self.room = asyncio.Event()
        self.room.set()

    def take(self, runs: int) -> None:
        """So many more are in hand."""
        self._open += runs
        self._look()

    def end(self, runs: int) -> None:
        """So many are through, or given up."""
        self._open -= runs
        self._look()

    def _look(self) -> None:
        if self._open <= self._enough:
            self.room.set()
        else:
            self.room.clear()
