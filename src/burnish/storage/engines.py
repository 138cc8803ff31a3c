"""Connections: what is set on each, and how many there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, event
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from burnish.storage.addresses import Address

_SQLITE_READERS = 4
_POSTGRES_CONNECTIONS = 10
_POSTGRES_CONNECT_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Engines:
    """Where reads and writes go. Writers on SQLite queue for one connection, so they never clash."""

    writer: AsyncEngine
    reader: AsyncEngine

    @classmethod
    def create(cls, address: Address, *, wait_seconds: float, busy_seconds: float) -> Engines:
        """Nothing is connected yet.

        A task waits `wait_seconds` for a connection, and SQLite `busy_seconds` for a lock.
        """
        if address.path is None:
            return _postgres(address, wait_seconds)

        def engine(connections: int, begin: str) -> AsyncEngine:
            made = create_async_engine(
                address.url,
                pool_size=connections,
                max_overflow=0,
                pool_timeout=wait_seconds,
                # Whoever takes a connection ends its transaction: none is left to roll back.
                pool_reset_on_return=None,
                hide_parameters=True,
                connect_args={"timeout": busy_seconds},
            )
            _prepare_sqlite(made, begin)
            return made

        return cls(writer=engine(1, "BEGIN IMMEDIATE"), reader=engine(_SQLITE_READERS, "BEGIN"))

    async def dispose(self) -> None:
        """Close every connection that is not in use."""
        await self.reader.dispose()
        await self.writer.dispose()


def _postgres(address: Address, wait_seconds: float) -> Engines:
    defaults = {"connect_timeout": _POSTGRES_CONNECT_SECONDS, "application_name": "burnish"}
    engine = create_async_engine(
        address.url,
        pool_size=_POSTGRES_CONNECTIONS,
        max_overflow=0,
        pool_timeout=wait_seconds,
        hide_parameters=True,
        connect_args={
            name: value for name, value in defaults.items() if name not in address.url.query
        },
    )
    # A read of several statements sees one moment, as it does on SQLite.
    return Engines(
        writer=engine, reader=engine.execution_options(isolation_level="REPEATABLE READ")
    )


def _prepare_sqlite(engine: AsyncEngine, begin: str) -> None:
    def prepare(connection: Any, _record: object) -> None:
        # Without this sqlite3 opens transactions on its own, later than `begin` would.
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute("PRAGMA synchronous = NORMAL")
        cursor.close()

    def start(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    event.listen(engine.sync_engine, "connect", prepare)
    event.listen(engine.sync_engine, "begin", start)
