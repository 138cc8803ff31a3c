"""Leases of image runs, and their cancellation, in the caller's transaction."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Double, Update, and_, bindparam, or_, select, update

from burnish.domain import BurnishError, ConflictError
from burnish.domain.images.runs import ImageRunStatus
from burnish.domain.jobs import JobKind
from burnish.storage.engine.codec import PlainText, SafeText
from burnish.storage.engine.connections import AsyncConnection
from burnish.storage.engine.database import AnyRow
from burnish.storage.images.tables import image_runs
from burnish.storage.jobs.leases import DatabaseTime, LeasedTable

_runs = image_runs.c
_now = DatabaseTime()
_stamp = bindparam("now", type_=PlainText)
_expires = _now + bindparam("seconds", type_=Double)
_of_id = _runs.id == bindparam("of_id", type_=SafeText)
_of_token = and_(_of_id, _runs.lease_token == bindparam("of_token", type_=BigInteger))
_is_free = and_(
    _runs.completed_at.is_(None),
    or_(_runs.lease_owner.is_(None), _runs.lease_expires <= _now),
)

IMAGE_RUN_LEASES = LeasedTable(
    JobKind.IMAGE_RUN,
    image_runs,
    "id",
    noun="image run",
    listed="burnish image list",
    shown="burnish image show",
    fix_owned="wait until it has ended, or stop it with `burnish image cancel {job_id}`",
    unfinished=_runs.completed_at.is_(None),
    skip_locked=True,
    on_acquire={"attempts": _runs.attempts + 1},
)
_keep = (
    update(image_runs)
    .where(_of_token, _runs.lease_owner.is_not(None))
    .values(lease_expires=_expires)
    .returning(_runs.cancel_requested)
)
_release = (
    update(image_runs)
    .where(_of_token, _runs.lease_owner.is_not(None))
    .values(lease_owner=None, lease_expires=None, attempts=_runs.attempts - 1)
)
_changed = {"revision": _runs.revision + 1, "updated_at": _stamp}
# With a new token, so that an owner who was given up on cannot bring it back.
_end_free = (
    update(image_runs)
    .where(_of_id, _is_free)
    .values(
        status=ImageRunStatus.CANCELLED.value,
        cancel_requested=True,
        completed_at=_stamp,
        lease_owner=None,
        lease_expires=None,
        lease_token=_runs.lease_token + 1,
        **_changed,
    )
)
_end_asked = _end_free.where(_runs.cancel_requested)
_ask_to_stop = (
    update(image_runs)
    .where(_of_id, _runs.completed_at.is_(None), _runs.cancel_requested.is_(False))
    .values(cancel_requested=True, **_changed)
)
_lock = select(_runs.id).where(_of_id).with_for_update()
_standing = select(
    _runs.lease_owner, _runs.lease_token, _runs.cancel_requested, _runs.completed_at
).where(_of_id)


def fenced(*, ends: bool, **values: Any) -> Update:
    """A change of a leased run that does nothing once the lease has moved.

    An ended run changes no more, but may be written again as it is: by a repeated attempt.
    """
    if ends:
        values |= {"lease_owner": None, "lease_expires": None}
    again = _runs.status == values["status"]
    return (
        update(image_runs)
        .where(_of_token, or_(_runs.completed_at.is_(None), again))
        .values(**values, **_changed)
    )


async def keep(connection: AsyncConnection, run_id: str, token: int, seconds: float) -> bool:
    """Whether its cancellation was asked for; an ended run needs no keeping."""
    bound = {"of_id": run_id, "of_token": token, "seconds": seconds}
    asked = await connection.scalar(_keep, bound)
    if asked is not None:
        return bool(asked)
    found = await standing(connection, run_id)
    if found.lease_token == token and found.completed_at is not None:
        return bool(found.cancel_requested)
    raise await lost(connection, run_id)


async def release(connection: AsyncConnection, run_id: str, token: int, now: str) -> None:
    """Let anybody have it; one whose cancellation was asked for ends here."""
    released = await connection.execute(_release, {"of_id": run_id, "of_token": token})
    if released.rowcount:
        await connection.execute(_end_asked, {"of_id": run_id, "now": now})


async def cancel(connection: AsyncConnection, run_id: str, now: str) -> None:
    """End a run that nobody has, and tell whoever has it."""
    bound = {"of_id": run_id, "now": now}
    if await connection.scalar(_lock, {"of_id": run_id}) is None:
        raise IMAGE_RUN_LEASES.not_found(run_id)
    if not (await connection.execute(_end_free, bound)).rowcount:
        await connection.execute(_ask_to_stop, bound)


async def standing(connection: AsyncConnection, run_id: str) -> AnyRow:
    """Who has the run, and whether it goes on."""
    found = (await connection.execute(_standing, {"of_id": run_id})).one_or_none()
    if found is None:
        raise IMAGE_RUN_LEASES.not_found(run_id)
    return found


async def lost(connection: AsyncConnection, run_id: str) -> BurnishError:
    """Why a holder may not write any more."""
    found = await standing(connection, run_id)
    if found.completed_at is not None:
        why = "it has ended meanwhile"
    elif found.lease_owner is None:
        why = "its owner has given up the lease"
    else:
        why = f"the lease has moved to another owner, {found.lease_owner}"
    return ConflictError(
        what=f"the image run {run_id} was not written to",
        why=why,
        fix=f"let that one go on; `burnish image show {run_id}` tells how far it is",
        code="lease_lost",
    )
