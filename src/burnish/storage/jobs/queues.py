"""Queues of jobs: which optimizations and evaluations are to be run, and who runs them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Delete,
    Double,
    Integer,
    Select,
    Update,
    and_,
    bindparam,
    case,
    delete,
    func,
    null,
    or_,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from burnish.domain import ExperimentStatus, Lease, OptimizationStatus
from burnish.domain.jobs import Job, WaitingJob
from burnish.storage.engine.bulk import by_dialect, value_of
from burnish.storage.engine.codec import PlainText, SafeText
from burnish.storage.engine.connections import AsyncConnection
from burnish.storage.engine.database import Database
from burnish.storage.engine.failures import is_foreign_key_violation
from burnish.storage.experiments.tables import experiments
from burnish.storage.jobs.leases import (
    EVALUATION_LEASES,
    OPTIMIZATION_LEASES,
    DatabaseTime,
    LeasedTable,
    bound_to,
)
from burnish.storage.jobs.tables import evaluation_jobs, run_queue
from burnish.storage.optimizations.tables import optimizations

_now = DatabaseTime()
_of_id = bindparam("of_id", type_=SafeText)
_at_most = bindparam("at_most", type_=Integer)
_ready_again = _now + bindparam("seconds", type_=Double)


def _one_less(attempts: ColumnElement[int]) -> ColumnElement[int]:
    """None is taken back where a job was queued anew, and its attempts forgotten, while it ran."""
    return case((attempts > 0, attempts - 1), else_=0)


class SqlJobs:
    """What the queues of all kinds do alike; image runs have an end of their own."""

    _leases: LeasedTable
    _waiting: Select[Any]
    _depth: Select[Any]
    _cancel_requested: Select[Any]
    _taken: Select[Any]
    _give_back: Update
    _finish: Update | Delete

    def __init__(self, database: Database) -> None:
        self._database = database

    async def waiting(self, *, limit: int = 20) -> list[WaitingJob]:
        """Those whose time has come, the oldest first, leased ones after those that are free."""
        rows = await self._database.all_rows(self._waiting, {"at_most": limit})
        return [value_of(WaitingJob, row, free=bool(row.free)) for row in rows]

    async def acquire(
        self, job_id: str, *, owner: str, seconds: float, replacing: str | None = None
    ) -> Job:
        """Take one; ConflictError `owned` unless it is free or held by `replacing`."""

        async def work(connection: AsyncConnection) -> Job:
            lease = await self._leases.acquire(
                connection, job_id, owner=owner, seconds=seconds, replacing=replacing
            )
            await self._count_attempt(connection, job_id)
            row = (await connection.execute(self._taken, {"of_id": job_id})).one_or_none()
            if row is None:
                return Job(lease=lease, attempts=0)
            return Job(lease=lease, attempts=row.attempts, spec=row.spec)

        return await self._database.write(work)

    async def renew(self, lease: Lease, *, seconds: float) -> None:
        """Hold it for so long from now on."""
        await self._database.write(
            lambda connection: self._leases.renew(connection, lease, seconds=seconds)
        )

    async def cancel_requested(self, job_id: str) -> bool:
        """Whether somebody asked for its end."""
        row = await self._database.one_row(self._cancel_requested, {"of_id": job_id})
        return row is not None and bool(row.cancel_requested)

    async def owner(self, job_id: str) -> str | None:
        """Who holds its lease, alive or not."""
        return await self._database.read(lambda connection: self._leases.owner(connection, job_id))

    async def depth(self) -> int:
        """How many wait that nobody runs at the moment."""
        return await self._database.read(lambda connection: connection.scalar(self._depth)) or 0

    async def give_back(self, lease: Lease, *, seconds: float = 0.0) -> None:
        """Let anybody have it after so long; this attempt does not count."""

        async def work(connection: AsyncConnection) -> None:
            await connection.execute(self._give_back, {**bound_to(lease), "seconds": seconds})
            await self._leases.release(connection, lease)
            await self._given_back(connection, lease)

        await self._database.write(work)

    async def finish(self, lease: Lease) -> None:
        """It has ended: nobody is to run it, unless it was queued again since it was taken."""

        async def work(connection: AsyncConnection) -> None:
            await connection.execute(self._finish, bound_to(lease))
            await self._leases.release(connection, lease)

        await self._database.write(work)

    async def _count_attempt(self, connection: AsyncConnection, job_id: str) -> None:
        """Where the lease's own row does not count them."""

    async def _given_back(self, connection: AsyncConnection, lease: Lease) -> None:
        """What else is to be done then."""


_runs, _queued = optimizations.c, run_queue.c
_run_free = or_(_runs.lease_owner.is_(None), _runs.lease_expires <= _now)
_of_queued = _queued.optimization_id == _of_id
# Whoever lost the lease changes nothing in the queue either.
_held_run = select(_runs.id).where(OPTIMIZATION_LEASES.not_replaced)
_queued_and_held = and_(_of_queued, _queued.optimization_id.in_(_held_run))
_joined = run_queue.join(optimizations, _runs.id == _queued.optimization_id)
_ENDED = (OptimizationStatus.COMPLETED.value, OptimizationStatus.CANCELLED.value)
_to_run = _runs.status.not_in(_ENDED)
_add_run = by_dialect(
    lambda insert: (
        insert(run_queue)
        .values(optimization_id=_of_id, queued_at=bindparam("now"), ready_at=_now, attempts=0)
        .on_conflict_do_update(
            index_elements=[_queued.optimization_id], set_={"attempts": 0, "ready_at": _now}
        )
    )
)


class SqlRunJobs(SqlJobs):
    """Optimizations that servers and workers run. A JobQueue on an open database."""

    _leases = OPTIMIZATION_LEASES
    _waiting = (
        select(_queued.optimization_id.label("job_id"), _run_free.label("free"), _runs.lease_owner)
        .select_from(_joined)
        .where(_queued.ready_at <= _now, _to_run)
        .order_by(_run_free.desc(), _queued.queued_at, _queued.optimization_id)
        .limit(_at_most)
    )
    _depth = select(func.count()).select_from(_joined).where(_run_free, _to_run)
    _cancel_requested = select(_runs.cancel_requested).where(_runs.id == _of_id)
    _taken = select(_queued.attempts, null().label("spec")).where(_of_queued)
    _begin = update(run_queue).where(_of_queued).values(attempts=_queued.attempts + 1)
    _give_back = (
        update(run_queue)
        .where(_queued_and_held)
        .values(attempts=_one_less(_queued.attempts), ready_at=_ready_again)
    )
    # Adding forgets the attempts: without any, it was added after the one that ends now began.
    _finish = delete(run_queue).where(_queued_and_held, _queued.attempts > 0)
    _remove = delete(run_queue).where(_of_queued)

    async def add(self, optimization_id: str) -> None:
        """Let it be run from now on; adding twice does no harm."""
        bound = {"of_id": optimization_id, "now": self._database.stamp()}

        async def work(connection: AsyncConnection) -> None:
            try:
                await connection.execute(_add_run[connection.dialect.name], bound)
            except IntegrityError as error:
                if is_foreign_key_violation(error):
                    raise self._leases.not_found(optimization_id) from None
                raise

        await self._database.write(work)

    async def remove(self, optimization_id: str) -> None:
        """It is not to be run any more; nothing happens when it is not there."""
        bound = {"of_id": optimization_id}
        await self._database.write(lambda connection: connection.execute(self._remove, bound))

    async def _count_attempt(self, connection: AsyncConnection, job_id: str) -> None:
        await connection.execute(self._begin, {"of_id": job_id})


_evaluations = evaluation_jobs.c
_evaluation_free = or_(_evaluations.lease_owner.is_(None), _evaluations.lease_expires <= _now)
_of_evaluation = _evaluations.experiment_id == _of_id
_dead = bindparam("dead", type_=SafeText)
_not_final = experiments.c.status.in_([one.value for one in ExperimentStatus if not one.final])
_new_evaluation = {
    "experiment_id": _of_id,
    "queued_at": bindparam("now"),
    "attempts": 0,
    "lease_token": 0,
    "cancel_requested": False,
}
_to_run_now = {"ready_at": _now, "spec": bindparam("spec", type_=_evaluations.spec.type)}
_add_unqueued = by_dialect(
    lambda insert: insert(evaluation_jobs).values(**_new_evaluation).on_conflict_do_nothing()
)
_add_evaluation = by_dialect(
    lambda insert: (
        insert(evaluation_jobs).values(**_new_evaluation, **_to_run_now).on_conflict_do_nothing()
    )
)


class SqlEvaluationJobs(SqlJobs):
    """Evaluations that servers and workers run, and leases of those that commands run."""

    _leases = EVALUATION_LEASES
    _waiting = (
        select(
            _evaluations.experiment_id.label("job_id"),
            _evaluation_free.label("free"),
            _evaluations.lease_owner,
        )
        .where(_evaluations.ready_at <= _now)
        .order_by(_evaluation_free.desc(), _evaluations.queued_at, _evaluations.experiment_id)
        .limit(_at_most)
    )
    _depth = (
        select(func.count())
        .select_from(evaluation_jobs)
        .where(_evaluations.ready_at <= _now, _evaluation_free)
    )
    _cancel_requested = select(_evaluations.cancel_requested).where(_of_evaluation)
    _taken = select(_evaluations.attempts, _evaluations.spec).where(_of_evaluation)
    _queue_again = (
        update(evaluation_jobs)
        .where(_of_evaluation, _evaluations.spec.is_not(None))
        .values(ready_at=_now, attempts=0, cancel_requested=False)
    )
    # Whoever runs it still has to hear of the wish to cancel it.
    _want = (
        update(evaluation_jobs)
        .where(_of_evaluation, or_(_evaluation_free, _evaluations.lease_owner == _dead))
        .values(cancel_requested=False)
    )
    _give_back = (
        update(evaluation_jobs)
        .where(EVALUATION_LEASES.not_replaced)
        .values(attempts=_one_less(_evaluations.attempts), ready_at=_ready_again)
    )
    # As with optimizations: without attempts it was queued again since it was taken.
    _finish = (
        update(evaluation_jobs)
        .where(EVALUATION_LEASES.not_replaced, _evaluations.attempts > 0)
        .values(ready_at=None)
    )
    _ask_to_stop = update(evaluation_jobs).where(_of_evaluation).values(cancel_requested=True)
    # With a new token, so that an owner who was given up on cannot bring it back.
    _end_free = (
        update(evaluation_jobs)
        .where(_of_evaluation, or_(_evaluation_free, _evaluations.lease_owner == _dead))
        .values(
            ready_at=None,
            cancel_requested=True,
            lease_owner=None,
            lease_expires=None,
            lease_token=_evaluations.lease_token + 1,
        )
    )
    _end_asked = _end_free.where(_evaluations.cancel_requested, EVALUATION_LEASES.not_replaced)
    _metadata = select(experiments.c.metadata).where(experiments.c.id == _of_id).with_for_update()
    _begin_again = (
        update(experiments)
        .where(experiments.c.id == _of_id)
        .values(
            status=ExperimentStatus.PENDING.value,
            metadata=bindparam("kept", type_=experiments.c.metadata.type),
            updated_at=bindparam("now", type_=PlainText),
        )
    )
    _end_experiment = (
        update(experiments)
        .where(experiments.c.id == _of_id, _not_final)
        .values(
            status=ExperimentStatus.CANCELLED.value, updated_at=bindparam("now", type_=PlainText)
        )
    )
    _is_waiting = select(_evaluations.experiment_id).where(
        _of_evaluation, _evaluations.ready_at.is_not(None)
    )

    async def add(self, experiment_id: str, spec: Mapping[str, Any]) -> None:
        """Let it be run from now on; adding twice does no harm."""
        bound = {"of_id": experiment_id, "now": self._database.stamp(), "spec": dict(spec)}
        await self._database.write(
            lambda connection: connection.execute(_add_evaluation[connection.dialect.name], bound)
        )

    async def register(self, experiment_id: str, *, dead_owner: str | None = None) -> None:
        """Let it be leased by a command that runs it; nobody else is to.

        A wish to cancel it is forgotten, unless somebody runs it who still has to hear of that.
        """
        bound = {"of_id": experiment_id, "now": self._database.stamp(), "dead": dead_owner}

        async def work(connection: AsyncConnection) -> None:
            await connection.execute(_add_unqueued[connection.dialect.name], bound)
            await connection.execute(self._want, bound)

        await self._database.write(work)

    async def queue_again(self, experiment_id: str) -> bool:
        """Let one that ended be run again; False when what it needs for that was not kept.

        Its experiment is pending from then on, without the error that it ended with.
        """
        bound = {"of_id": experiment_id, "now": self._database.stamp()}

        async def work(connection: AsyncConnection) -> bool:
            if not (await connection.execute(self._queue_again, bound)).rowcount:
                return False
            kept = {**(await connection.scalar(self._metadata, bound) or {}), "error": None}
            await connection.execute(self._begin_again, {**bound, "kept": kept})
            return True

        return await self._database.write(work)

    async def request_cancel(self, experiment_id: str, *, dead_owner: str | None = None) -> bool:
        """Ask for its end; one that nobody runs ends here. False when it is not known as a job."""
        bound = {"of_id": experiment_id, "now": self._database.stamp(), "dead": dead_owner}

        async def work(connection: AsyncConnection) -> bool:
            if (await connection.execute(self._end_free, bound)).rowcount:
                await connection.execute(self._end_experiment, bound)
                return True
            return bool((await connection.execute(self._ask_to_stop, bound)).rowcount)

        return await self._database.write(work)

    async def is_waiting(self, experiment_id: str) -> bool:
        """Whether it is still to be run, or being run, by a server or a worker."""
        row = await self._database.one_row(self._is_waiting, {"of_id": experiment_id})
        return row is not None

    async def _given_back(self, connection: AsyncConnection, lease: Lease) -> None:
        """One whose cancellation was asked for ends here."""
        bound = {**bound_to(lease), "now": self._database.stamp(), "dead": None}
        if (await connection.execute(self._end_asked, bound)).rowcount:
            await connection.execute(self._end_experiment, bound)
