"""Keeps which evaluations are to be run, and who runs them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Double, bindparam, delete, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from burnish.domain.evaluation_queue import QueuedEvaluation
from burnish.storage.engine.codec import SafeText
from burnish.storage.engine.database import AnyRow, Database
from burnish.storage.jobs.leases import DatabaseTime
from burnish.storage.registry.tables import evaluation_queue

_queue = evaluation_queue.c
_now = DatabaseTime()
_of = _queue.experiment_id == bindparam("of_id", type_=SafeText)
_owner = bindparam("of_owner", type_=SafeText)
_expires = _now + bindparam("seconds", type_=Double)
_is_free = or_(_queue.owner.is_(None), _queue.expires <= _now)
_oldest = (
    select(_queue.experiment_id)
    .where(_is_free)
    .order_by(_queue.queued_at, _queue.experiment_id)
    .limit(1)
    .with_for_update(skip_locked=True)
)
_take = (
    update(evaluation_queue)
    .where(_queue.experiment_id == _oldest.scalar_subquery(), _is_free)
    .values(owner=_owner, expires=_expires, attempts=_queue.attempts + 1)
    .returning(_queue.experiment_id, _queue.spec, _queue.attempts)
)
_keep = update(evaluation_queue).where(_of, _queue.owner == _owner).values(expires=_expires)
_give_back = (
    update(evaluation_queue)
    .where(_of, _queue.owner == _owner)
    .values(owner=None, expires=None, attempts=_queue.attempts - 1)
)
_remove = delete(evaluation_queue).where(_of)
_is_there = select(_queue.experiment_id).where(_of)
_add = insert(evaluation_queue)


class SqlEvaluationQueue:
    """An EvaluationQueue on an open database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, experiment_id: str, spec: Mapping[str, Any]) -> None:
        """Let it be run from now on."""
        row = {
            "experiment_id": experiment_id,
            "queued_at": self._database.stamp(),
            "attempts": 0,
            "owner": None,
            "expires": None,
            "spec": dict(spec),
        }

        async def work(connection: AsyncConnection) -> None:
            # There when an earlier attempt got through, and only its answer was lost.
            if await connection.scalar(_is_there, {"of_id": experiment_id}) is None:
                await connection.execute(_add, row)

        await self._database.write(work)

    async def take(self, *, owner: str, seconds: float) -> QueuedEvaluation | None:
        """The oldest that nobody holds."""
        bound = {"of_owner": owner, "seconds": seconds}

        async def work(connection: AsyncConnection) -> AnyRow | None:
            return (await connection.execute(_take, bound)).one_or_none()

        found = await self._database.write(work)
        if found is None:
            return None
        return QueuedEvaluation(
            experiment_id=found.experiment_id, spec=found.spec, attempts=found.attempts
        )

    async def keep(self, experiment_id: str, *, owner: str, seconds: float) -> bool:
        """Hold it longer."""
        bound = {"of_id": experiment_id, "of_owner": owner, "seconds": seconds}

        async def work(connection: AsyncConnection) -> bool:
            return bool((await connection.execute(_keep, bound)).rowcount)

        return await self._database.write(work)

    async def give_back(self, experiment_id: str, *, owner: str) -> None:
        """Let anybody have it at once."""
        bound = {"of_id": experiment_id, "of_owner": owner}

        async def work(connection: AsyncConnection) -> None:
            await connection.execute(_give_back, bound)

        await self._database.write(work)

    async def remove(self, experiment_id: str) -> None:
        """It is not to be run any more."""

        async def work(connection: AsyncConnection) -> None:
            await connection.execute(_remove, {"of_id": experiment_id})

        await self._database.write(work)

    async def waiting(self, experiment_id: str) -> bool:
        """Whether it is still to be run, or being run."""

        async def work(connection: AsyncConnection) -> bool:
            return await connection.scalar(_is_there, {"of_id": experiment_id}) is not None

        return await self._database.read(work)
