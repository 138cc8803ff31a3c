"""Leases of jobs, by the database's own clock: one set of statements for every kind of job.

A lease stands in the row that it protects. A holder is known by its token: each new holder gets a
higher one, and every write under a lease compares tokens in its own transaction, so whoever was
replaced cannot write any more. A lease that was given up still serves its holder until somebody
takes the next one: the last results of a job that is ending are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Double,
    Table,
    Update,
    bindparam,
    null,
    or_,
    select,
    true,
    update,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from burnish.domain import BurnishError, ConflictError, Lease, UsageError
from burnish.domain.jobs import JobKind, owner_words
from burnish.storage.engine.codec import PlainText, SafeText
from burnish.storage.engine.connections import AsyncConnection
from burnish.storage.jobs.tables import evaluation_jobs
from burnish.storage.optimizations.tables import optimizations


class DatabaseTime(FunctionElement[float]):
    """Seconds since 1970 as the database sees them, at the moment of asking."""

    type = Double()
    inherit_cache = True


@compiles(DatabaseTime, "sqlite")
def _sqlite_time(element: Any, compiler: Any, **options: Any) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(DatabaseTime, "postgresql")
def _postgres_time(element: Any, compiler: Any, **options: Any) -> str:
    return "CAST(extract(epoch FROM clock_timestamp()) AS DOUBLE PRECISION)"


_now = DatabaseTime()
_owner = bindparam("of_owner", type_=SafeText)


class LeasedTable:
    """The lease columns of one table: `lease_owner`, `lease_token` and `lease_expires`.

    With `skip_locked` nobody waits for a row that another is just writing to: it counts as owned.
    `unfinished` says which rows are still to be worked on, `on_acquire` what else a new holder
    changes; `noun`, `listed` and `shown` are the words and commands of its errors.
    """

    def __init__(
        self,
        kind: JobKind,
        table: Table,
        identity: str,
        *,
        noun: str,
        listed: str,
        shown: str,
        fix_owned: str,
        unfinished: ColumnElement[bool] | None = None,
        skip_locked: bool = False,
        on_acquire: Mapping[str, Any] | None = None,
    ) -> None:
        columns = table.c
        self.kind, self._noun = kind, noun
        self._listed, self._shown, self._fix_owned = listed, shown, fix_owned
        self.of_id = columns[identity] == bindparam("of_id", type_=SafeText)
        of_token = columns.lease_token == bindparam("of_token", type_=BigInteger)
        is_held = self.of_id & of_token & (columns.lease_owner == _owner)
        self.not_replaced = (
            self.of_id
            & of_token
            & or_(columns.lease_owner == _owner, columns.lease_owner.is_(None))
        )
        expires = _now + bindparam("seconds", type_=Double)
        to_be_had = or_(
            columns.lease_owner.is_(None),
            columns.lease_expires <= _now,
            columns.lease_owner == _owner,
            columns.lease_owner == bindparam("replacing", type_=SafeText),
        )
        row = self.of_id
        if skip_locked:
            unlocked = select(columns[identity]).where(row).with_for_update(skip_locked=True)
            row = columns[identity] == unlocked.scalar_subquery()
        self._acquire = (
            update(table)
            .where(row, to_be_had, true() if unfinished is None else unfinished)
            .values(
                lease_owner=_owner,
                lease_token=columns.lease_token + 1,
                lease_expires=expires,
                **(on_acquire or {}),
            )
            # As it was before: whoever takes a lease has changed nothing yet.
            .returning(columns.lease_token, columns.get("updated_at", null()))
        )
        self._renew = update(table).where(is_held).values(lease_expires=expires)
        self._release = update(table).where(is_held).values(lease_owner=None, lease_expires=None)
        # Shared: results of one job are written side by side, and a new holder waits for them.
        self._share = select(columns.lease_token).where(self.not_replaced)
        self._share = self._share.with_for_update(read=True)
        self._holder = select(
            columns.lease_owner, (columns.lease_expires - _now).label("seconds_left")
        ).where(self.of_id)

    async def acquire(
        self,
        connection: AsyncConnection,
        job_id: str,
        *,
        owner: str,
        seconds: float,
        replacing: str | None,
    ) -> Lease:
        """The lease with the next token, if it can be had."""
        bound = {"of_id": job_id, "of_owner": owner, "seconds": seconds, "replacing": replacing}
        taken = (await connection.execute(self._acquire, bound)).one_or_none()
        if taken is None:
            raise await self._owned(connection, job_id)
        token, updated_at = taken
        return Lease(kind=self.kind, job_id=job_id, owner=owner, token=token, updated_at=updated_at)

    async def renew(self, connection: AsyncConnection, lease: Lease, *, seconds: float) -> None:
        """Let it run for so long from now on."""
        renewed = await connection.execute(self._renew, {**bound_to(lease), "seconds": seconds})
        if not renewed.rowcount:
            raise await self.lost(connection, lease)

    async def release(self, connection: AsyncConnection, lease: Lease) -> None:
        """Let anybody have it; the token stays, and with it the fence."""
        await connection.execute(self._release, bound_to(lease))

    async def share(self, connection: AsyncConnection, lease: Lease) -> None:
        """Keep the lease from moving until the end of the transaction."""
        if await connection.scalar(self._share, bound_to(lease)) is None:
            raise await self.lost(connection, lease)

    async def owner(self, connection: AsyncConnection, job_id: str) -> str | None:
        """Who holds it, alive or not."""
        holder = (await connection.execute(self._holder, {"of_id": job_id})).one_or_none()
        return None if holder is None else holder.lease_owner

    def not_found(self, job_id: str) -> UsageError:
        """There is no such job."""
        return UsageError(
            what=f"there is no {self._noun} {job_id!r}",
            why=f"no {self._noun} with that id is stored",
            fix=f"`{self._listed}` shows those that are",
            code="not_found",
        )

    async def lost(self, connection: AsyncConnection, lease: Lease) -> BurnishError:
        """Why a holder may not write any more."""
        holder = (await connection.execute(self._holder, {"of_id": lease.job_id})).one_or_none()
        if holder is None:
            return self.not_found(lease.job_id)
        owner = holder.lease_owner
        return ConflictError(
            what=f"{self._noun} {lease.job_id} was not written to",
            why="its owner has given up the lease"
            if owner is None
            else f"the lease has moved to another owner, {owner_words(owner)}",
            fix=f"let that one go on; `{self._shown}` tells how far it is",
            code="lease_lost",
        )

    async def _owned(self, connection: AsyncConnection, job_id: str) -> BurnishError:
        holder = (await connection.execute(self._holder, {"of_id": job_id})).one_or_none()
        if holder is None:
            return self.not_found(job_id)
        left = max(holder.seconds_left or 0.0, 0.0)
        return ConflictError(
            what=f"{self._noun} {job_id} cannot be taken over",
            why=f"its owner {owner_words(holder.lease_owner)} holds it for another {left:.1f} seconds",
            fix=self._fix_owned.format(job_id=job_id),
            code="owned",
        )


OPTIMIZATION_LEASES = LeasedTable(
    JobKind.OPTIMIZATION,
    optimizations,
    "id",
    noun="optimization",
    listed="burnish list",
    shown="burnish show",
    fix_owned="wait until it has ended, or stop it with `burnish cancel {job_id}`",
)

EVALUATION_LEASES = LeasedTable(
    JobKind.EVALUATION,
    evaluation_jobs,
    "experiment_id",
    noun="evaluation",
    listed="burnish list",
    shown="burnish show",
    fix_owned="wait until it has ended, or stop it with `burnish cancel {job_id}`",
    on_acquire={"attempts": evaluation_jobs.c.attempts + 1},
)
acquire = OPTIMIZATION_LEASES.acquire
renew = OPTIMIZATION_LEASES.renew
release = OPTIMIZATION_LEASES.release
not_found = OPTIMIZATION_LEASES.not_found
_FENCES = {table.kind: table for table in (OPTIMIZATION_LEASES, EVALUATION_LEASES)}


async def share(connection: AsyncConnection, lease: Lease | None) -> None:
    """Keep the lease from moving until the end of the transaction; without one, do nothing."""
    if lease is not None:
        await _FENCES[lease.kind].share(connection, lease)


def fenced(**values: Any) -> Update:
    """An update of the leased optimization that changes nothing once the lease has moved."""
    now = bindparam("now", type_=PlainText)
    return (
        update(optimizations)
        .where(OPTIMIZATION_LEASES.not_replaced)
        .values(updated_at=now, **values)
    )


_touch = fenced()


async def hold(
    connection: AsyncConnection,
    lease: Lease,
    now: str,
    change: Update = _touch,
    values: Mapping[str, Any] | None = None,
) -> None:
    """Make a `fenced` change, and keep everybody else off the optimization until the end."""
    changed = await connection.execute(change, {**bound_to(lease), "now": now, **(values or {})})
    if not changed.rowcount:
        raise await OPTIMIZATION_LEASES.lost(connection, lease)


def bound_to(lease: Lease) -> dict[str, Any]:
    """The parameters of statements about a lease."""
    return {"of_id": lease.job_id, "of_token": lease.token, "of_owner": lease.owner}
