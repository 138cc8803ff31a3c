"""Who may write to an optimization, by the database's own clock.

A holder is known by its token. Each new holder gets a higher one, and every write under a lease
compares tokens in its own transaction, so whoever was replaced cannot write any more. A lease that
was given up still serves its holder until somebody takes the next one: the last results of a run
that is ending are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import BigInteger, Double, Update, bindparam, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from burnish.domain import BurnishError, ConflictError, Lease, UsageError
from burnish.storage.engine.codec import PlainText, SafeText
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


_columns = optimizations.c
_now = DatabaseTime()
_expires = _now + bindparam("seconds", type_=Double)
_of_id = _columns.id == bindparam("of_id", type_=SafeText)
_is_token = _columns.lease_token == bindparam("of_token", type_=BigInteger)
_owner = bindparam("of_owner", type_=SafeText)
_is_held = _of_id & _is_token & (_columns.lease_owner == _owner)
_is_not_replaced = (
    _of_id & _is_token & or_(_columns.lease_owner == _owner, _columns.lease_owner.is_(None))
)
_is_free = or_(
    _columns.lease_owner.is_(None),
    _columns.lease_expires <= _now,
    _columns.lease_owner == _owner,
    _columns.lease_owner == bindparam("replacing", type_=SafeText),
)

_acquire = (
    update(optimizations)
    .where(_of_id, _is_free)
    .values(
        lease_owner=_owner,
        lease_token=_columns.lease_token + 1,
        lease_expires=_expires,
        updated_at=bindparam("now", type_=PlainText),
    )
    .returning(_columns.lease_token)
)
_renew = update(optimizations).where(_is_held).values(lease_expires=_expires)
_release = update(optimizations).where(_is_held).values(lease_owner=None, lease_expires=None)
_standing = select(
    _columns.lease_owner, (_columns.lease_expires - _now).label("seconds_left")
).where(_of_id)
# Shared: experiments of one optimization are written side by side, and a new holder waits for them.
_share = select(_columns.lease_token).where(_is_not_replaced).with_for_update(read=True)


def fenced(**values: Any) -> Update:
    """An update of the leased optimization that changes nothing once the lease has moved."""
    now = bindparam("now", type_=PlainText)
    return update(optimizations).where(_is_not_replaced).values(updated_at=now, **values)


_touch = fenced()


async def acquire(
    connection: AsyncConnection,
    optimization_id: str,
    *,
    owner: str,
    seconds: float,
    replacing: str | None,
    now: str,
) -> Lease:
    """The lease with the next token, if it can be had."""
    bound = {
        "of_id": optimization_id,
        "of_owner": owner,
        "seconds": seconds,
        "replacing": replacing,
        "now": now,
    }
    token = await connection.scalar(_acquire, bound)
    if token is None:
        raise await _owned(connection, optimization_id)
    return Lease(optimization_id=optimization_id, owner=owner, token=token)


async def renew(connection: AsyncConnection, lease: Lease, *, seconds: float) -> None:
    """Let it run for so long from now on."""
    renewed = await connection.execute(_renew, {**_bound(lease), "seconds": seconds})
    if not renewed.rowcount:
        raise await _lost(connection, lease)


async def release(connection: AsyncConnection, lease: Lease) -> None:
    """Let anybody have it; the token stays, and with it the fence."""
    await connection.execute(_release, _bound(lease))


async def hold(
    connection: AsyncConnection,
    lease: Lease,
    now: str,
    change: Update = _touch,
    values: Mapping[str, Any] | None = None,
) -> None:
    """Make a `fenced` change, and keep everybody else off the optimization until the end."""
    changed = await connection.execute(change, {**_bound(lease), "now": now, **(values or {})})
    if not changed.rowcount:
        raise await _lost(connection, lease)


async def share(connection: AsyncConnection, lease: Lease | None) -> None:
    """Keep the lease from moving until the end of the transaction; without one, do nothing."""
    if lease is not None and await connection.scalar(_share, _bound(lease)) is None:
        raise await _lost(connection, lease)


def not_found(optimization_id: str) -> UsageError:
    """There is no such optimization."""
    return UsageError(
        what=f"there is no optimization {optimization_id!r}",
        why="no optimization with that id is stored",
        fix="`burnish list` shows those that are",
        code="not_found",
    )


def _bound(lease: Lease) -> dict[str, Any]:
    return {"of_id": lease.optimization_id, "of_token": lease.token, "of_owner": lease.owner}


async def _owned(connection: AsyncConnection, optimization_id: str) -> BurnishError:
    standing = (await connection.execute(_standing, {"of_id": optimization_id})).one_or_none()
    if standing is None:
        return not_found(optimization_id)
    left = max(standing.seconds_left or 0.0, 0.0)
    return ConflictError(
        what=f"optimization {optimization_id} cannot be taken over",
        why=f"its owner {standing.lease_owner} holds it for another {left:.1f} seconds",
        fix=f"wait until it has ended, or stop it with `burnish cancel {optimization_id}`",
        code="owned",
    )


async def _lost(connection: AsyncConnection, lease: Lease) -> BurnishError:
    standing = (await connection.execute(_standing, {"of_id": lease.optimization_id})).one_or_none()
    if standing is None:
        return not_found(lease.optimization_id)
    owner = standing.lease_owner
    return ConflictError(
        what=f"optimization {lease.optimization_id} was not written to",
        why="its owner has given up the lease"
        if owner is None
        else f"the lease has moved to another owner, {owner}",
        fix="let that one go on; `burnish show` tells how far it is",
        code="lease_lost",
    )
