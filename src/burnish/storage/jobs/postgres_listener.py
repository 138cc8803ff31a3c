"""Hears of new events on PostgreSQL, from whichever process wrote them (LISTEN and NOTIFY)."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from burnish.storage.engine.addresses import Address
from burnish.storage.engine.codec import decode_text
from burnish.storage.optimizations.events import CHANNEL

if TYPE_CHECKING:
    import psycopg

_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 10.0
_CONNECT_SECONDS = 10


class PostgresBell:
    """An EventBell on a connection of its own; after a lost one it connects again by itself."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._connection: psycopg.AsyncConnection | None = None

    async def rings(self) -> AsyncIterator[str | None]:
        """Ids of optimizations with new events."""
        import psycopg  # noqa: PLC0415 - an extra, and slow to load

        pause = _FIRST_PAUSE
        while True:
            try:
                self._connection = await self._connect()
                # Whatever came between two connections was not heard.
                yield None
                pause = _FIRST_PAUSE
                async for heard in self._connection.notifies():
                    yield decode_text(heard.payload)
            except (psycopg.Error, OSError):
                await asyncio.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311 - only jitter
                pause = min(pause * 2, _LONGEST_PAUSE)
            finally:
                await self.close()

    async def close(self) -> None:
        """Let go of the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def _connect(self) -> psycopg.AsyncConnection:
        import psycopg  # noqa: PLC0415

        url = self._address.url.set(drivername="postgresql")
        options = {"connect_timeout": _CONNECT_SECONDS, "application_name": "burnish events"}
        connection = await psycopg.AsyncConnection.connect(
            url.render_as_string(hide_password=False),
            autocommit=True,
            **{name: value for name, value in options.items() if name not in url.query},  # type: ignore[arg-type]
        )
        await connection.execute(f"LISTEN {CHANNEL}")
        return connection


def database_bell(location: str) -> PostgresBell | None:
    """The database's own bell; None where it has none, as SQLite, which is looked at instead."""
    address = Address.of(location)
    return PostgresBell(address) if address.path is None else None
