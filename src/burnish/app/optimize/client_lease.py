"""The right to write to an optimization on behalf of the Opik client that runs it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar
from weakref import WeakValueDictionary

from burnish.domain import ConflictError, Lease, OptimizationRecord, OptimizationRepository

CLIENT = "opik"
# Servers of one database write for the same client, so they share a name: the last one to ask has
# the lease, and the others ask again.
OWNER = "an Opik client"
# So short that a run whose client is gone can be cancelled at once: tokens keep writes apart.
_SECONDS = 0.1
_ATTEMPTS = 8
_WAIT_SECONDS = 0.02

T = TypeVar("T")


def is_of_client(record: OptimizationRecord) -> bool:
    """Whether an Opik client runs it, and not Burnish."""
    return record.spec.get("client") == CLIENT


class OpikLease:
    """Runs work under an optimization's lease, one after the other here, fenced elsewhere."""

    def __init__(self, optimizations: OptimizationRepository) -> None:
        self._optimizations = optimizations
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def lock(self, identity: str) -> asyncio.Lock:
        """The lock of one thing, for as long as somebody has it."""
        return self._locks.setdefault(identity, asyncio.Lock())

    async def write(self, optimization_id: str, work: Callable[[Lease], Awaitable[T]]) -> T:
        """The work's result. It is begun anew when another server wrote meanwhile."""
        lock = self.lock(optimization_id)
        async with lock:
            for attempt in range(1, _ATTEMPTS):
                try:
                    return await self._once(optimization_id, work)
                except ConflictError as error:
                    if error.code not in ("lease_lost", "owned"):
                        raise
                    await asyncio.sleep(_WAIT_SECONDS * attempt * (0.5 + random.random()))  # noqa: S311
            return await self._once(optimization_id, work)

    async def _once(self, optimization_id: str, work: Callable[[Lease], Awaitable[T]]) -> T:
        lease = await self._optimizations.acquire_lease(
            optimization_id, owner=OWNER, seconds=_SECONDS
        )
        result = await work(lease)
        record = await self._optimizations.get_optimization(optimization_id)
        if record.status.final:
            await self._optimizations.release_lease(lease)
        return result
