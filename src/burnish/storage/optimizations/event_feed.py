"""Reads the events of many optimizations in one transaction: what one reader a process does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import bindparam, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from burnish.domain import Event
from burnish.storage.engine.bulk import chunks
from burnish.storage.engine.codec import SafeText
from burnish.storage.engine.database import Database
from burnish.storage.optimizations import events as event_log
from burnish.storage.optimizations.tables import optimization_events, optimizations

_of_many = bindparam("ids", type_=SafeText, expanding=True)
_last = (
    select(func.coalesce(func.max(optimization_events.c.sequence), 0))
    .where(optimization_events.c.optimization_id == optimizations.c.id)
    .scalar_subquery()
    .label("last")
)
_positions = select(optimizations.c.id, _last).where(optimizations.c.id.in_(_of_many))


class SqlEventFeed:
    """An EventFeed on an open database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def positions(self, optimization_ids: Sequence[str]) -> dict[str, int]:
        """The last sequence number of each that exists."""

        async def work(connection: AsyncConnection) -> dict[str, int]:
            found: dict[str, int] = {}
            for chunk in chunks(list(dict.fromkeys(optimization_ids))):
                rows = await connection.execute(_positions, {"ids": chunk})
                found.update({row.id: row.last for row in rows})
            return found

        return await self._database.read(work)

    async def after(self, positions: Mapping[str, int], *, limit: int) -> dict[str, list[Event]]:
        """Events past each one's position."""

        async def work(connection: AsyncConnection) -> dict[str, list[Event]]:
            found: dict[str, list[Event]] = {}
            # Each is a walk along the primary key; most of them end at once.
            for optimization_id, last in positions.items():
                events = await event_log.after(connection, optimization_id, last, limit)
                if events:
                    found[optimization_id] = events
            return found

        return await self._database.read(work)
