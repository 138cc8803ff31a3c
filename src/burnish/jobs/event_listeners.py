"""Listeners for events of other processes: PostgreSQL's own, or Redis by configuration.

`BURNISH_EVENTS` names a Redis server. Whoever stores events then publishes which optimization they
are of, and servers listen there instead of on the database: for a pooler in front of PostgreSQL that
keeps no LISTEN. Only ids travel; the events themselves are always read from the database.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING

from burnish import storage
from burnish.domain.optimizations.records import EventListener
from burnish.support.retry import RetryPolicy

if TYPE_CHECKING:
    from redis.asyncio import Redis

VARIABLE = "BURNISH_EVENTS"
_CHANNEL = "burnish:events"
_RECONNECT = RetryPolicy(first_wait_seconds=0.2, longest_wait_seconds=10.0)
_PUBLISH_SECONDS = 2.0


def open_listener(location: str) -> EventListener | None:
    """What tells of other processes' events; None where the database has to be looked at."""
    url = os.environ.get(VARIABLE)
    return RedisListener(url) if url else storage.database_listener(location)


@contextlib.asynccontextmanager
async def announcing() -> AsyncIterator[Callable[[str], None] | None]:
    """What to call after events were stored; None where the database tells by itself."""
    url = os.environ.get(VARIABLE)
    if not url:
        yield None
        return
    publisher = RedisPublisher(url)
    try:
        yield publisher.notify
    finally:
        await publisher.close()


class RedisPublisher:
    """Tells of stored events on Redis, in the background: no run waits or fails for that."""

    def __init__(self, url: str) -> None:
        self._client = _client(url)
        self._pending: set[str] = set()
        self._task: asyncio.Task[None] | None = None

    def notify(self, optimization_id: str) -> None:
        """Say that it has new events, once however often that is said meanwhile."""
        self._pending.add(optimization_id)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._publish())

    async def close(self) -> None:
        """Say what is left, and let go of the connection."""
        if self._task is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._task, _PUBLISH_SECONDS)
        await self._client.aclose()

    async def _publish(self) -> None:
        import redis  # noqa: PLC0415 - an extra

        while self._pending:
            optimization_id = self._pending.pop()
            # Servers look at the database by themselves too, so a lost notice costs only time.
            with contextlib.suppress(redis.RedisError, OSError, TimeoutError):
                async with asyncio.timeout(_PUBLISH_SECONDS):
                    await self._client.publish(_CHANNEL, optimization_id)


class RedisListener:
    """An EventListener on Redis or Valkey; after a lost connection it connects again by itself."""

    def __init__(self, url: str) -> None:
        self._client = _client(url)

    async def notifications(self) -> AsyncIterator[str | None]:
        """Ids of optimizations with new events."""
        import redis  # noqa: PLC0415 - an extra

        failures = 0
        while True:
            try:
                async with self._client.pubsub(ignore_subscribe_messages=True) as listening:
                    await listening.subscribe(_CHANNEL)
                    # Whatever came between two connections was not heard.
                    yield None
                    failures = 0
                    async for heard in listening.listen():
                        yield _text(heard["data"])
            except (redis.RedisError, OSError):
                failures += 1
                draw = random.random()  # noqa: S311 - only jitter
                await asyncio.sleep(_RECONNECT.wait_seconds(failures, None, draw))

    async def close(self) -> None:
        """Let go of the connection."""
        await self._client.aclose()


def _client(url: str) -> Redis:
    from burnish.support.redis_client import open_client  # noqa: PLC0415 - an extra

    return open_client(url, what="events cannot travel over Redis")


def _text(data: object) -> str:
    return data.decode("utf-8", "replace") if isinstance(data, bytes) else str(data)
