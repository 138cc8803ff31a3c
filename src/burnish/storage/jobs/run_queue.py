"""Keeps which optimizations are to be run; their leases say who runs them."""

from __future__ import annotations

from sqlalchemy import Double, Integer, bindparam, delete, func, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from burnish.domain.run_queue import QueuedRun
from burnish.storage.engine.codec import SafeText
from burnish.storage.engine.database import Database
from burnish.storage.engine.failures import is_foreign_key_violation
from burnish.storage.jobs import leases
from burnish.storage.jobs.tables import run_queue
from burnish.storage.optimizations.tables import optimizations

_queue, _runs = run_queue.c, optimizations.c
_now = leases.DatabaseTime()
_of = _queue.optimization_id == bindparam("of_id", type_=SafeText)
_ready_again = _now + bindparam("seconds", type_=Double)
_add = {
    dialect: insert(run_queue)
    .values(
        optimization_id=bindparam("of_id", type_=SafeText),
        queued_at=bindparam("now"),
        ready_at=_now,
        attempts=0,
    )
    .on_conflict_do_update(
        index_elements=[_queue.optimization_id], set_={"attempts": 0, "ready_at": _now}
    )
    for dialect, insert in (("sqlite", sqlite.insert), ("postgresql", postgresql.insert))
}
_free = or_(_runs.lease_owner.is_(None), _runs.lease_expires <= _now)
_joined = run_queue.join(optimizations, _runs.id == _queue.optimization_id)
_waiting = (
    select(_queue.optimization_id, _queue.attempts, _free.label("free"), _runs.lease_owner)
    .select_from(_joined)
    .where(_queue.ready_at <= _now)
    .order_by(_free.desc(), _queue.queued_at, _queue.optimization_id)
    .limit(bindparam("at_most", type_=Integer))
)
_depth = select(func.count()).select_from(_joined).where(_free)
_begin = (
    update(run_queue).where(_of).values(attempts=_queue.attempts + 1).returning(_queue.attempts)
)
_give_back = update(run_queue).where(_of).values(attempts=0, ready_at=_ready_again)
_remove = delete(run_queue).where(_of)
# Adding forgets the attempts: without any, it was added after the one that ends now began.
_finish = _remove.where(_queue.attempts > 0)


class SqlRunQueue:
    """A RunQueue on an open database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, optimization_id: str) -> None:
        """Let it be run from now on."""
        bound = {"of_id": optimization_id, "now": self._database.stamp()}

        async def work(connection: AsyncConnection) -> None:
            try:
                await connection.execute(_add[connection.dialect.name], bound)
            except IntegrityError as error:
                if is_foreign_key_violation(error):
                    raise leases.not_found(optimization_id) from None
                raise

        await self._database.write(work)

    async def remove(self, optimization_id: str) -> None:
        """It is not to be run any more."""
        bound = {"of_id": optimization_id}

        async def work(connection: AsyncConnection) -> None:
            await connection.execute(_remove, bound)

        await self._database.write(work)

    async def finish(self, optimization_id: str) -> None:
        """Its attempt has ended: remove it, unless somebody added it again since that began."""
        bound = {"of_id": optimization_id}

        async def work(connection: AsyncConnection) -> None:
            await connection.execute(_finish, bound)

        await self._database.write(work)

    async def waiting(self, *, limit: int = 20) -> list[QueuedRun]:
        """Those whose time has come."""

        async def work(connection: AsyncConnection) -> list[QueuedRun]:
            return [
                QueuedRun(
                    optimization_id=row.optimization_id,
                    attempts=row.attempts,
                    free=bool(row.free),
                    lease_owner=row.lease_owner,
                )
                for row in await connection.execute(_waiting, {"at_most": limit})
            ]

        return await self._database.read(work)

    async def begin(self, optimization_id: str) -> int:
        """Count an attempt."""

        async def work(connection: AsyncConnection) -> int:
            return await connection.scalar(_begin, {"of_id": optimization_id}) or 0

        return await self._database.write(work)

    async def give_back(self, optimization_id: str, *, seconds: float = 0.0) -> None:
        """Forget the attempts, and let it be run again after so long."""
        bound = {"of_id": optimization_id, "seconds": seconds}

        async def work(connection: AsyncConnection) -> None:
            await connection.execute(_give_back, bound)

        await self._database.write(work)

    async def depth(self) -> int:
        """How many nobody runs at the moment."""

        async def work(connection: AsyncConnection) -> int:
            return await connection.scalar(_depth) or 0

        return await self._database.read(work)
