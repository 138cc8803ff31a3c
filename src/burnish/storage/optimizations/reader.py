"""Reads optimizations and what belongs to them."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import bindparam, func, select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

from burnish.domain import Candidate, OptimizationRecord, Rejection, TrialResult
from burnish.storage.engine.bulk import as_stored
from burnish.storage.engine.codec import SafeText
from burnish.storage.engine.database import AnyRow
from burnish.storage.jobs import leases
from burnish.storage.optimizations.rows import (
    DOCUMENTS,
    read_candidates,
    read_record,
    read_rejections,
    read_trials,
)
from burnish.storage.optimizations.tables import (
    candidates,
    optimization_documents,
    optimizations,
    trials,
    validation_rejections,
)

_of = bindparam("of_id", type_=SafeText)
_columns, _documents, _trials = optimizations.c, optimization_documents.c, trials.c
_is_trial = _trials.slot == ""
# Neither the baseline nor mini-batches count; the primary key alone answers it.
_trial_count = (
    select(func.count())
    .where(_trials.optimization_id == _columns.id, _trials.number > 0, _is_trial)
    .scalar_subquery()
    .label("trials")
)
# The columns of a record without its documents.
SHOWN = [column for column in _columns if column.name not in ("lease_token", "lease_expires")] + [
    _trial_count
]
_documents_of = [
    select(_documents.document)
    .where(_documents.optimization_id == _columns.id, _documents.name == name)
    .scalar_subquery()
    .label(name)
    for name in DOCUMENTS
]
_get = select(*SHOWN, *_documents_of).where(_columns.id == _of)
_newest_first = select(*SHOWN).order_by(_columns.created_at.desc(), _columns.id.desc())
_moment = select(_columns.created_at).where(_columns.id == _of)

_UNREAD = ("optimization_id", "configuration_hash")
_list_candidates = (
    select(*(as_stored(column) for column in candidates.c if column.name not in _UNREAD))
    .where(candidates.c.optimization_id == _of)
    .order_by(candidates.c.number)
)
_list_all_trials = (
    select(*(as_stored(column) for column in _trials if not column.primary_key))
    .where(_trials.optimization_id == _of)
    .order_by(_trials.number, _trials.slot)
)
_list_trials = _list_all_trials.where(_is_trial)
_list_rejections = (
    select(*(column for column in validation_rejections.c if not column.primary_key))
    .where(validation_rejections.c.optimization_id == _of)
    .order_by(validation_rejections.c.position)
)


async def get(connection: AsyncConnection, optimization_id: str) -> OptimizationRecord:
    """One optimization with its documents."""
    row = (await connection.execute(_get, {"of_id": optimization_id})).one_or_none()
    if row is None:
        raise leases.not_found(optimization_id)
    return read_record(row)


async def newest(
    connection: AsyncConnection, limit: int, before: str | None
) -> list[OptimizationRecord]:
    """Optimizations without their documents, the newest first."""
    statement = _newest_first.limit(max(limit, 0))
    if before is not None:
        moment = await connection.scalar(_moment, {"of_id": before})
        if moment is None:
            raise leases.not_found(before)
        earlier = tuple_(_columns.created_at, _columns.id) < tuple_(moment, before)
        statement = statement.where(earlier)
    return [read_record(row) for row in await connection.execute(statement)]


async def list_candidates(connection: AsyncConnection, optimization_id: str) -> list[Candidate]:
    """All candidates by number."""
    with _nothing_collected():
        rows = await _rows(connection, _list_candidates, optimization_id)
        return read_candidates(optimization_id, rows)


async def list_trials(
    connection: AsyncConnection, optimization_id: str, *, mini_batches: bool
) -> list[TrialResult]:
    """Trials by number, with or without mini-batches."""
    statement = _list_all_trials if mini_batches else _list_trials
    with _nothing_collected():
        return read_trials(optimization_id, await _rows(connection, statement, optimization_id))


async def list_rejections(connection: AsyncConnection, optimization_id: str) -> list[Rejection]:
    """All rejections as they were made."""
    return read_rejections(await _rows(connection, _list_rejections, optimization_id))


async def _rows(
    connection: AsyncConnection, statement: Any, optimization_id: str
) -> Sequence[AnyRow]:
    return (await connection.execute(statement, {"of_id": optimization_id})).all()


@contextmanager
def _nothing_collected() -> Iterator[None]:
    """Thousands of values at once set off the garbage collector, which takes longer than they do."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
