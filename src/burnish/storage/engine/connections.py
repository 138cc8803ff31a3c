"""Connections: what is set on each, and how many there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from burnish.storage.engine.addresses import Address
from burnish.storage.engine.transactions import ServerTransactions, SqliteThreads, Transactions

_SQLITE_READERS = 4
_POSTGRES_CONNECTIONS = 10
_POSTGRES_CONNECT_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Engines:
    """Where reads and writes go. Writers on SQLite queue for one connection, so they never clash.

    On SQLite the engine serves only transactions that cannot be given as work.
    """

    writer: Transactions
    reader: Transactions
    engine: AsyncEngine

    @classmethod
    def create(cls, address: Address, *, wait_seconds: float, busy_seconds: float) -> Engines:
        """Nothing is connected yet.

        A task waits `wait_seconds` for a connection, and SQLite `busy_seconds` for a lock.
        """
        if address.path is None:
            return _postgres(address, wait_seconds)

        settings: dict[str, Any] = {
            "max_overflow": 0,
            "pool_timeout": wait_seconds,
            # Whoever takes a connection ends its transaction: none is left to roll back.
            "pool_reset_on_return": None,
            "hide_parameters": True,
        }
        connecting = {"timeout": busy_seconds}
        engine = create_async_engine(address.url, pool_size=1, connect_args=connecting, **settings)
        _prepare_sqlite(engine.sync_engine, "BEGIN IMMEDIATE")

        def threads(count: int, begin: str) -> SqliteThreads:
            made = create_engine(
                address.url.set(drivername="sqlite"),
                pool_size=count,
                # A connection serves one thread at a time, but not always the same one.
                connect_args={**connecting, "check_same_thread": False},
                **settings,
            )
            _prepare_sqlite(made, begin)
            return SqliteThreads(made, count)

        return cls(
            writer=threads(1, "BEGIN IMMEDIATE"),
            reader=threads(_SQLITE_READERS, "BEGIN"),
            engine=engine,
        )

    async def dispose(self) -> None:
        """Close every connection that is not in use."""
        await self.reader.close()
        await self.writer.close()
        await self.engine.dispose()


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
        writer=ServerTransactions(engine),
        reader=ServerTransactions(engine.execution_options(isolation_level="REPEATABLE READ")),
        engine=engine,
    )


def _prepare_sqlite(engine: Engine, begin: str) -> None:
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

    event.listen(engine, "connect", prepare)
    event.listen(engine, "begin", start)
