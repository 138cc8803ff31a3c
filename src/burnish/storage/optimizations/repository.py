"""Optimization repository: the only source of truth for a run and for whoever watches it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import wraps
from typing import Any

from sqlalchemy import bindparam, delete, func, insert, select, tuple_, update
from sqlalchemy.exc import IntegrityError

from burnish.domain import (
    Candidate,
    ConflictError,
    Event,
    InvariantError,
    Lease,
    OptimizationRecord,
    OptimizationStatus,
    Rejection,
    StepCandidate,
    TrialResult,
    UsageError,
)
from burnish.storage.engine.bulk import BulkInsert, value_of
from burnish.storage.engine.codec import PlainText, SafeText
from burnish.storage.engine.connections import AsyncConnection
from burnish.storage.engine.database import Database
from burnish.storage.engine.failures import is_foreign_key_violation
from burnish.storage.jobs import leases
from burnish.storage.optimizations import events as event_log
from burnish.storage.optimizations import rows as stored
from burnish.storage.optimizations.tables import (
    candidates,
    optimization_documents,
    optimizations,
    trials,
    validation_rejections,
)
from burnish.support.garbage import without_garbage_collection

_DOCUMENTS = ("spec", "checkpoint", "result")

_columns, _documents, _trials = optimizations.c, optimization_documents.c, trials.c
_rejections = validation_rejections.c
_of = bindparam("of_id", type_=SafeText)
_of_id = _columns.id == _of
_documents_of = [
    select(_documents.document)
    .where(_documents.optimization_id == _columns.id, _documents.name == name)
    .scalar_subquery()
    .label(name)
    for name in _DOCUMENTS
]
_get = select(*stored.RECORD_COLUMNS, *_documents_of).where(_of_id)
_newest = select(*stored.RECORD_COLUMNS).order_by(_columns.created_at.desc(), _columns.id.desc())
_moment = select(_columns.created_at).where(_of_id)
_list_candidates = (
    select(*stored.CANDIDATE_COLUMNS)
    .where(candidates.c.optimization_id == _of)
    .order_by(candidates.c.number)
)
_list_all_trials = (
    select(*stored.TRIAL_COLUMNS)
    .where(_trials.optimization_id == _of)
    .order_by(_trials.number, _trials.slot)
)
_list_trials = _list_all_trials.where(_trials.slot == "")
_of_optimization = _rejections.optimization_id == _of
_list_rejections = (
    select(validation_rejections).where(_of_optimization).order_by(_rejections.position)
)
_stamps = select(_columns.updated_at).where(_of_id)
_ask_to_stop = (
    update(optimizations)
    .where(_of_id)
    .values(cancel_requested=True, updated_at=bindparam("now", type_=PlainText))
)
_asked_to_stop = select(_columns.cancel_requested).where(_of_id)


def _given(name: str) -> Any:
    return bindparam(f"new_{name}", type_=_columns[name].type)


_set_status = leases.fenced(
    **{name: _given(name) for name in ("status", "stop_reason", "framework_error")}
)
# What is not known stays as it is: a best is never taken back.
_set_best = leases.fenced(
    **{
        name: func.coalesce(_given(name), _columns[name])
        for name in ("best_candidate_id", "best_score", "baseline_score")
    }
)

_insert_candidates = BulkInsert(candidates, existing="skip")
_put_documents = BulkInsert(optimization_documents, existing="replace")
_drop_document = delete(optimization_documents).where(
    _documents.optimization_id == _of, _documents.name == bindparam("of_name")
)


class SqlOptimizationRepository:
    """An OptimizationRepository on an open database.

    `on_stored` is called with an optimization's id after events of it were stored.
    """

    def __init__(self, database: Database, on_stored: Callable[[str], None] | None = None) -> None:
        self._database = database
        self._on_stored = on_stored

    async def create_optimization(self, record: OptimizationRecord) -> None:
        """Add a new optimization."""
        row = stored.record_row(record, self._database.stamp())
        attempts = 0

        async def work(connection: AsyncConnection) -> None:
            nonlocal attempts
            attempts += 1
            stamp = await connection.scalar(_stamps, {"of_id": record.id})
            if stamp is None:
                await _add(connection, row)
                for name in _DOCUMENTS:
                    if (document := getattr(record, name)) is not None:
                        await _put_document(connection, record.id, name, document)
            elif attempts == 1 or stamp != row["updated_at"]:
                raise _taken(record.id)
            # Else an earlier attempt got through, and only its answer was lost.

        await self._database.write(work)

    async def get_optimization(self, optimization_id: str) -> OptimizationRecord:
        """One optimization."""
        row = await self._database.one_row(_get, {"of_id": optimization_id})
        if row is None:
            raise leases.not_found(optimization_id)
        return stored.read_record(row)

    async def list_optimizations(
        self, *, limit: int = 50, before: str | None = None
    ) -> list[OptimizationRecord]:
        """The newest first, without spec, checkpoint and result."""

        async def work(connection: AsyncConnection) -> list[OptimizationRecord]:
            statement = _newest.limit(max(limit, 0))
            if before is not None:
                moment = await connection.scalar(_moment, {"of_id": before})
                if moment is None:
                    raise leases.not_found(before)
                earlier = tuple_(_columns.created_at, _columns.id) < tuple_(moment, before)
                statement = statement.where(earlier)
            return [stored.read_record(row) for row in await connection.execute(statement)]

        return await self._database.read(work)

    async def acquire_lease(
        self, optimization_id: str, *, owner: str, seconds: float, replacing: str | None = None
    ) -> Lease:
        """The right to write, unless another owner has it."""
        return await self._database.write(
            lambda connection: leases.acquire(
                connection, optimization_id, owner=owner, seconds=seconds, replacing=replacing
            )
        )

    async def renew_lease(self, lease: Lease, *, seconds: float) -> None:
        """Extend it."""
        await self._database.write(
            lambda connection: leases.renew(connection, lease, seconds=seconds)
        )

    async def release_lease(self, lease: Lease) -> None:
        """Give it up."""
        await self._database.write(lambda connection: leases.release(connection, lease))

    async def request_cancel(self, optimization_id: str) -> None:
        """Ask the owner to stop."""
        bound = {"of_id": optimization_id, "now": self._database.stamp()}

        async def work(connection: AsyncConnection) -> None:
            if not (await connection.execute(_ask_to_stop, bound)).rowcount:
                raise leases.not_found(optimization_id)

        await self._database.write(work)

    async def cancel_requested(self, optimization_id: str) -> bool:
        """Whether somebody asked."""

        async def work(connection: AsyncConnection) -> bool:
            asked = await connection.scalar(_asked_to_stop, {"of_id": optimization_id})
            if asked is None:
                raise leases.not_found(optimization_id)
            return bool(asked)

        return await self._database.read(work)

    async def save_status(
        self,
        lease: Lease,
        status: OptimizationStatus,
        *,
        stop_reason: str | None = None,
        framework_error: Mapping[str, Any] | None = None,
        result: Mapping[str, Any] | None = None,
        events: Sequence[Event] = (),
    ) -> None:
        """A new status; what explained the old one goes."""
        values = {
            "new_status": status.value,
            "new_stop_reason": stop_reason,
            "new_framework_error": framework_error,
        }

        async def work(connection: AsyncConnection, now: str) -> None:
            await leases.hold(connection, lease, now, _set_status, values)
            await _put_document(connection, lease.job_id, "result", result)

        await self._write(lease, work, events)

    async def save_step(
        self,
        lease: Lease,
        *,
        candidates: Sequence[StepCandidate],
        rejections: Sequence[Rejection],
        checkpoint: Mapping[str, Any],
        events: Sequence[Event] = (),
    ) -> None:
        """What a step will run and what it refused."""
        identity = lease.job_id
        attempts = 0

        async def work(connection: AsyncConnection, now: str) -> None:
            nonlocal attempts
            attempts += 1
            await leases.hold(connection, lease, now)
            rows = [stored.candidate_row(identity, one.candidate) for one in candidates]
            await _insert_candidates(connection, rows)
            await stored.add_rejections(
                connection, identity, rejections, now=now, again=attempts > 1
            )
            await _put_document(connection, identity, "checkpoint", checkpoint)

        await self._write(lease, work, events)

    async def save_trial(
        self, lease: Lease, trial: TrialResult, *, events: Sequence[Event] = ()
    ) -> None:
        """Insert or replace a candidate's trial, or a mini-batch by its experiment."""
        values = stored.trial_values(lease.job_id, trial)

        async def work(connection: AsyncConnection, now: str) -> None:
            await leases.hold(connection, lease, now)
            saved = await connection.execute(stored.UPSERT_TRIAL[connection.dialect.name], values)
            if not saved.rowcount:
                raise InvariantError(
                    what=f"a trial of optimization {lease.job_id} was not saved",
                    why=f"there is no candidate {trial.candidate_id!r} in it",
                    fix="please report this",
                )

        await self._write(lease, work, events)

    async def save_checkpoint(
        self,
        lease: Lease,
        checkpoint: Mapping[str, Any],
        *,
        best_candidate_id: str | None = None,
        best_score: float | None = None,
        baseline_score: float | None = None,
        events: Sequence[Event] = (),
    ) -> None:
        """The state after a step, with the best so far."""
        values = {
            "new_best_candidate_id": best_candidate_id,
            "new_best_score": best_score,
            "new_baseline_score": baseline_score,
        }

        async def work(connection: AsyncConnection, now: str) -> None:
            await leases.hold(connection, lease, now, _set_best, values)
            await _put_document(connection, lease.job_id, "checkpoint", checkpoint)

        await self._write(lease, work, events)

    async def append_events(self, lease: Lease, events: Sequence[Event]) -> None:
        """Events that go with no other write."""
        await self._write(
            lease, lambda connection, now: leases.hold(connection, lease, now), events
        )

    async def list_candidates(self, optimization_id: str) -> list[Candidate]:
        """All accepted candidates by number."""

        async def work(connection: AsyncConnection) -> list[Candidate]:
            with without_garbage_collection():
                found = await connection.execute(_list_candidates, {"of_id": optimization_id})
                return stored.read_candidates(optimization_id, found.all())

        return await self._database.read(work)

    async def list_trials(
        self, optimization_id: str, *, mini_batches: bool = False
    ) -> list[TrialResult]:
        """Results by candidate number."""
        statement = _list_all_trials if mini_batches else _list_trials

        async def work(connection: AsyncConnection) -> list[TrialResult]:
            with without_garbage_collection():
                found = await connection.execute(statement, {"of_id": optimization_id})
                return stored.read_trials(optimization_id, found.all())

        return await self._database.read(work)

    async def list_rejections(self, optimization_id: str) -> list[Rejection]:
        """In the order they were made."""
        rows = await self._database.all_rows(_list_rejections, {"of_id": optimization_id})
        return [value_of(Rejection, row) for row in rows]

    async def list_events(
        self, optimization_id: str, *, after: int = 0, limit: int = 1000
    ) -> list[Event]:
        """Events past a sequence number."""
        return await self._database.read(
            lambda connection: event_log.after(connection, optimization_id, after, limit)
        )

    async def _write(
        self,
        lease: Lease,
        work: Callable[[AsyncConnection, str], Awaitable[None]],
        events: Sequence[Event],
    ) -> None:
        """Work that locks the optimization under its lease, and events, in one transaction."""
        now = self._database.stamp()

        @wraps(work)  # Failpoints are named after the method that made the work.
        async def all_of_it(connection: AsyncConnection) -> None:
            await work(connection, now)
            await event_log.append(connection, lease.job_id, events, now)

        await self._database.write(all_of_it)
        if events and self._on_stored is not None:
            self._on_stored(lease.job_id)


async def _add(connection: AsyncConnection, row: Mapping[str, Any]) -> None:
    try:
        await connection.execute(insert(optimizations), row)
    except IntegrityError as error:
        if is_foreign_key_violation(error):
            raise UsageError(
                what=f"the optimization {row['id']!r} cannot be created",
                why=f"there is no dataset {row['dataset_id']!r}",
                fix="store the dataset first",
                code="not_found",
            ) from None
        raise _taken(row["id"]) from None


def _taken(optimization_id: str) -> ConflictError:
    return ConflictError(
        what=f"the optimization {optimization_id!r} cannot be created",
        why="its id is taken",
        fix="use a new id",
    )


async def _put_document(
    connection: AsyncConnection,
    optimization_id: str,
    name: str,
    document: Mapping[str, Any] | None,
) -> None:
    """Replace a document; None takes it away."""
    if document is None:
        await connection.execute(_drop_document, {"of_id": optimization_id, "of_name": name})
    else:
        await _put_documents(connection, [(optimization_id, name, document)])
