"""Events of optimizations: stored once by key, numbered without gaps, read for many, listened for."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Integer, bindparam, func, select

from burnish.domain import Event, EventType
from burnish.storage.engine.bulk import as_stored, by_column, by_dialect, rows_of_many, values_of
from burnish.storage.engine.codec import SafeText, decode_jsons, decode_text, decode_texts
from burnish.storage.engine.connections import Address, AsyncConnection
from burnish.storage.engine.database import Database, parse_time
from burnish.storage.optimizations.tables import optimization_events, optimizations
from burnish.support.retry import RetryPolicy

if TYPE_CHECKING:
    import psycopg

# Whom PostgreSQL tells of new events, when the transaction is committed.
CHANNEL = "burnish_events"

_columns = optimization_events.c
_types = {one.value: one for one in EventType}
_of_optimization = _columns.optimization_id == bindparam("optimization_id", type_=SafeText)
_last = (
    select(_columns.sequence)
    .where(_of_optimization)
    .order_by(_columns.sequence.desc())
    .limit(1)
    .scalar_subquery()
)
_given = {
    column.name: bindparam(column.name, type_=column.type)
    for column in _columns
    if column.name != "sequence"
}
_append = by_dialect(
    lambda insert: (
        insert(optimization_events)
        .values(sequence=func.coalesce(_last, 0) + 1, **_given)
        .on_conflict_do_nothing(index_elements=[_columns.optimization_id, _columns.key])
    )
)
_after = (
    select(*(as_stored(column) for column in _columns if column.name != "optimization_id"))
    .where(_of_optimization, _columns.sequence > bindparam("last", type_=Integer))
    .order_by(_columns.sequence)
    .limit(bindparam("at_most", type_=Integer))
)
_notify = select(func.pg_notify(CHANNEL, bindparam("optimization_id", type_=SafeText)))

_of_many = bindparam("ids", type_=SafeText, expanding=True)
_last_sequence = (
    select(func.coalesce(func.max(optimization_events.c.sequence), 0))
    .where(optimization_events.c.optimization_id == optimizations.c.id)
    .scalar_subquery()
    .label("last")
)
_positions = select(optimizations.c.id, _last_sequence).where(optimizations.c.id.in_(_of_many))

_RECONNECT = RetryPolicy(first_wait_seconds=0.2, longest_wait_seconds=10.0)
_CONNECT_SECONDS = 10


async def append(
    connection: AsyncConnection, optimization_id: str, events: Sequence[Event], now: str
) -> None:
    """Add those whose keys are new. The caller has locked the optimization."""
    if events:
        rows = [_row(optimization_id, event, now) for event in events]
        await connection.execute(_append[connection.dialect.name], rows)
        if connection.dialect.name == "postgresql":
            await connection.execute(_notify, {"optimization_id": optimization_id})


async def after(
    connection: AsyncConnection, optimization_id: str, last: int, at_most: int
) -> list[Event]:
    """Events past a sequence number, in order."""
    bound = {"optimization_id": optimization_id, "last": last, "at_most": max(at_most, 0)}
    rows = (await connection.execute(_after, bound)).all()
    if not rows:
        return []
    columns = by_column(rows)
    return values_of(
        Event,
        len(rows),
        {
            **columns,
            "type": map(_types.__getitem__, columns["type"]),
            "key": decode_texts(columns["key"]),
            "payload": decode_jsons(columns["payload"]),
        },
    )


def _row(optimization_id: str, event: Event, now: str) -> dict[str, Any]:
    return {
        "optimization_id": optimization_id,
        "key": event.key,
        "type": event.type.value,
        "created_at": parse_time(event.created_at) if event.created_at else now,
        "payload": dict(event.payload),
    }


class SqlEventFeed:
    """An EventFeed on an open database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def positions(self, optimization_ids: Sequence[str]) -> dict[str, int]:
        """The last sequence number of each that exists."""
        rows = await self._database.read(
            lambda connection: rows_of_many(connection, _positions, "ids", optimization_ids)
        )
        return {row.id: row.last for row in rows}

    async def after(self, positions: Mapping[str, int], *, limit: int) -> dict[str, list[Event]]:
        """Events past each one's position."""

        async def work(connection: AsyncConnection) -> dict[str, list[Event]]:
            found: dict[str, list[Event]] = {}
            # Each is a walk along the primary key; most of them end at once.
            for optimization_id, last in positions.items():
                events = await after(connection, optimization_id, last, limit)
                if events:
                    found[optimization_id] = events
            return found

        return await self._database.read(work)


class PostgresListener:
    """An EventListener on a connection of its own; after a lost one it connects again by itself."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._connection: psycopg.AsyncConnection | None = None

    async def notifications(self) -> AsyncIterator[str | None]:
        """Ids of optimizations with new events."""
        import psycopg  # noqa: PLC0415 - an extra, and slow to load

        failures = 0
        while True:
            try:
                self._connection = await self._connect()
                # Whatever came between two connections was not heard.
                yield None
                failures = 0
                async for heard in self._connection.notifies():
                    yield decode_text(heard.payload)
            except (psycopg.Error, OSError):
                failures += 1
                draw = random.random()  # noqa: S311 - only jitter
                await asyncio.sleep(_RECONNECT.wait_seconds(failures, None, draw))
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


def database_listener(location: str) -> PostgresListener | None:
    """The database's own listener; None where it has none, as SQLite, which is looked at instead."""
    address = Address.of(location)
    return PostgresListener(address) if address.path is None else None
