"""Queue of image runs: the run's own row is its place in it until it has ended."""

from __future__ import annotations

from sqlalchemy import Integer, bindparam, func, null, or_, select

from burnish.domain import Lease
from burnish.storage.engine.codec import SafeText
from burnish.storage.engine.connections import AsyncConnection
from burnish.storage.images import leases as image_leases
from burnish.storage.images.tables import image_runs
from burnish.storage.jobs.leases import DatabaseTime
from burnish.storage.jobs.queues import SqlJobs

_now = DatabaseTime()
_of_id = bindparam("of_id", type_=SafeText)
_at_most = bindparam("at_most", type_=Integer)
_images = image_runs.c
_image_free = or_(_images.lease_owner.is_(None), _images.lease_expires <= _now)


class SqlImageJobs(SqlJobs):
    """Image runs: the run's own row is its place in the queue until it has ended."""

    _leases = image_leases.IMAGE_RUN_LEASES
    _waiting = (
        select(_images.id.label("job_id"), _image_free.label("free"), _images.lease_owner)
        .where(_images.completed_at.is_(None))
        .order_by(_image_free.desc(), _images.created_at, _images.id)
        .limit(_at_most)
    )
    _depth = (
        select(func.count())
        .select_from(image_runs)
        .where(_images.completed_at.is_(None), _image_free)
    )
    _cancel_requested = select(_images.cancel_requested).where(_images.id == _of_id)
    _taken = select(_images.attempts, null().label("spec")).where(_images.id == _of_id)

    async def renew(self, lease: Lease, *, seconds: float) -> None:
        """Hold it for so long from now on; one that has ended needs no keeping."""
        await self._database.write(
            lambda connection: image_leases.keep(connection, lease.job_id, lease.token, seconds)
        )

    async def give_back(self, lease: Lease, *, seconds: float = 0.0) -> None:
        """Let anybody have it; after a while, it is held for that long and the attempt counts."""
        now = self._database.stamp()

        async def work(connection: AsyncConnection) -> None:
            if seconds > 0:
                await image_leases.keep(connection, lease.job_id, lease.token, seconds)
            else:
                await image_leases.release(connection, lease.job_id, lease.token, now)

        await self._database.write(work)

    async def finish(self, lease: Lease) -> None:
        """Nothing is left to do: the run that was saved as ended waits no more."""
