"""What watchers of an optimization are told: each event once, numbered without gaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Integer, bindparam, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from burnish.domain import Event, EventType
from burnish.storage.engine.bulk import as_stored, by_column, values_of
from burnish.storage.engine.codec import SafeText, decode_jsons, decode_texts
from burnish.storage.engine.database import parse_time
from burnish.storage.optimizations.tables import optimization_events

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
_append = {
    dialect: insert(optimization_events)
    .values(
        sequence=func.coalesce(_last, 0) + 1,
        **{
            column.name: bindparam(column.name, type_=column.type)
            for column in _columns
            if column.name != "sequence"
        },
    )
    .on_conflict_do_nothing(index_elements=[_columns.optimization_id, _columns.key])
    for dialect, insert in (("sqlite", sqlite.insert), ("postgresql", postgresql.insert))
}
_after = (
    select(*(as_stored(column) for column in _columns if column.name != "optimization_id"))
    .where(_of_optimization, _columns.sequence > bindparam("last", type_=Integer))
    .order_by(_columns.sequence)
    .limit(bindparam("at_most", type_=Integer))
)
_notify = select(func.pg_notify(CHANNEL, bindparam("optimization_id", type_=SafeText)))


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
