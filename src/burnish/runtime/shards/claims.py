"""Pairs that this worker is at, so that a message that comes twice is not worked on twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from burnish.runtime.shards.messages import ShardRequest
from burnish.runtime.shards.shard_guard import ShardGuard

_LOOK_SECONDS = 1.0
Key = tuple[str, str, int]


class Claims:
    """Which (experiment, item, repeat) some task of this process evaluates now."""

    def __init__(self) -> None:
        self._held: dict[Key, asyncio.Event] = {}

    @asynccontextmanager
    async def of(self, request: ShardRequest, guard: ShardGuard) -> AsyncIterator[None]:
        """Have all pairs of a request to oneself, as soon as nobody else here is at any of them."""
        keys = [(request.experiment_id, item, repeat) for item, repeat in request.pairs]
        while (
            busy := next((self._held[key] for key in keys if key in self._held), None)
        ) is not None:
            guard.require_going_on()
            try:
                async with asyncio.timeout(_LOOK_SECONDS):
                    await busy.wait()
            except TimeoutError:
                continue
        free = asyncio.Event()
        self._held.update(dict.fromkeys(keys, free))
        try:
            yield
        finally:
            for key in keys:
                self._held.pop(key, None)
            free.set()
