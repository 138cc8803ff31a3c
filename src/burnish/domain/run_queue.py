"""Optimizations that wait for whoever runs them: a server, or a worker on another machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedRun:
    """One that is to be run. `free` says that no lease stands in the way, by the database's clock.

    `attempts` counts how often somebody began with it and neither ended it nor gave it back.
    """

    optimization_id: str
    attempts: int
    free: bool
    lease_owner: str | None


class RunQueue(Protocol):
    """Which optimizations are to be run. The lease decides who does; this only says what there is.

    A run stays in the queue until it has ended, so whoever dies leaves it to the others.
    """

    async def add(self, optimization_id: str) -> None:
        """Let it be run from now on; adding twice does no harm."""
        ...

    async def remove(self, optimization_id: str) -> None:
        """It is not to be run any more; nothing happens when it is not there."""
        ...

    async def finish(self, optimization_id: str) -> None:
        """Its attempt has ended: remove it, unless somebody added it again since that began."""
        ...

    async def waiting(self, *, limit: int = 20) -> list[QueuedRun]:
        """Those whose time has come, the oldest first, leased ones after those that are free."""
        ...

    async def begin(self, optimization_id: str) -> int:
        """Count an attempt; how many there are now."""
        ...

    async def give_back(self, optimization_id: str, *, seconds: float = 0.0) -> None:
        """Forget the attempts, and let it be run again after so long."""
        ...

    async def depth(self) -> int:
        """How many nobody runs at the moment."""
        ...
