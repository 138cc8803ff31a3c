"""Optimizations, candidates, trials and rejections: as rows and back, and read in order."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from itertools import repeat
from typing import Any

from sqlalchemy import bindparam, func, select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

from burnish.domain import (
    Candidate,
    Configuration,
    ExperimentStatus,
    ExperimentType,
    OptimizationRecord,
    OptimizationStatus,
    Rejection,
    TrialResult,
    TrialSummary,
)
from burnish.storage.engine.bulk import Row as BulkRow
from burnish.storage.engine.bulk import as_stored, by_column, row_of, value_of, values_of
from burnish.storage.engine.codec import SafeText, decode_jsons, decode_texts
from burnish.storage.engine.database import AnyRow, parse_time
from burnish.storage.jobs import leases
from burnish.storage.optimizations.tables import (
    candidates,
    optimization_documents,
    optimizations,
    trials,
    validation_rejections,
)

DOCUMENTS = ("spec", "checkpoint", "result")

_statuses = {one.value: one for one in ExperimentStatus}
_types = {one.value: one for one in ExperimentType}

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
RECORD_COLUMNS = [
    column for column in _columns if column.name not in ("lease_token", "lease_expires")
] + [_trial_count]
_documents_of = [
    select(_documents.document)
    .where(_documents.optimization_id == _columns.id, _documents.name == name)
    .scalar_subquery()
    .label(name)
    for name in DOCUMENTS
]
_get = select(*RECORD_COLUMNS, *_documents_of).where(_columns.id == _of)
_newest_first = select(*RECORD_COLUMNS).order_by(_columns.created_at.desc(), _columns.id.desc())
_moment = select(_columns.created_at).where(_columns.id == _of)

# The columns that `read_candidates` and `read_trials` take.
CANDIDATE_COLUMNS = [
    as_stored(column)
    for column in candidates.c
    if column.name not in ("optimization_id", "configuration_hash")
]
TRIAL_COLUMNS = [as_stored(column) for column in _trials if not column.primary_key]
ONE_CANDIDATE = select(*CANDIDATE_COLUMNS).where(
    candidates.c.optimization_id == _of,
    candidates.c.candidate_id == bindparam("of_candidate", type_=SafeText),
)
_list_candidates = (
    select(*CANDIDATE_COLUMNS)
    .where(candidates.c.optimization_id == _of)
    .order_by(candidates.c.number)
)
_list_all_trials = (
    select(*TRIAL_COLUMNS)
    .where(_trials.optimization_id == _of)
    .order_by(_trials.number, _trials.slot)
)
_list_trials = _list_all_trials.where(_is_trial)
_list_rejections = (
    select(*(column for column in validation_rejections.c if not column.primary_key))
    .where(validation_rejections.c.optimization_id == _of)
    .order_by(validation_rejections.c.position)
)


def record_row(record: OptimizationRecord, now: str) -> dict[str, Any]:
    """A new optimization. Whoever runs it takes a lease first, so it is stored without an owner."""
    return row_of(
        optimizations,
        record,
        lease_owner=None,
        lease_token=0,
        lease_expires=None,
        created_at=parse_time(record.created_at) if record.created_at else now,
        updated_at=parse_time(record.updated_at) if record.updated_at else now,
    )


def read_record(row: AnyRow) -> OptimizationRecord:
    """An optimization, with its documents where the row has them."""
    return value_of(OptimizationRecord, row, status=OptimizationStatus(row.status))


def candidate_row(optimization_id: str, candidate: Candidate) -> BulkRow:
    """A candidate in the order of the table's columns."""
    row = row_of(
        candidates,
        candidate,
        optimization_id=optimization_id,
        candidate_id=candidate.id,
        configuration_hash=candidate.configuration.hash,
        parent_candidate_ids=list(candidate.parent_candidate_ids),
        configuration=candidate.configuration.to_json(),
        metadata=candidate.metadata or None,
    )
    return tuple(row.values())


def read_candidates(optimization_id: str, rows: Sequence[AnyRow]) -> list[Candidate]:
    """Candidates from their columns as they are stored."""
    if not rows:
        return []
    columns = by_column(rows)
    return values_of(
        Candidate,
        len(rows),
        {
            **columns,
            "id": decode_texts(columns["candidate_id"]),
            "optimization_id": repeat(optimization_id),
            "configuration": map(Configuration.stored, columns["configuration"]),
            "parent_candidate_ids": map(tuple, decode_jsons(columns["parent_candidate_ids"])),
            "rationale": decode_texts(columns["rationale"]),
            "mask_id": decode_texts(columns["mask_id"]),
            # Candidates of older databases have none.
            "metadata": decode_jsons(one or "{}" for one in columns["metadata"]),
        },
    )


def trial_values(optimization_id: str, trial: TrialResult) -> dict[str, Any]:
    """A trial by column; its number is the candidate's, which the database knows."""
    slot = "" if trial.type is ExperimentType.TRIAL else trial.experiment_id
    given = {"optimization_id": optimization_id, "number": None, "slot": slot}
    row = row_of(trials, trial, **asdict(trial.summary) | given)
    del row["number"]
    return row


def read_trials(optimization_id: str, rows: Sequence[AnyRow]) -> list[TrialResult]:
    """Trials from their columns as they are stored."""
    if not rows:
        return []
    columns = by_column(rows)
    texts = ("candidate_id", "mask_id", "experiment_id", "error")
    return values_of(
        TrialResult,
        len(rows),
        {
            **columns,
            **{name: decode_texts(columns[name]) for name in texts},
            "optimization_id": repeat(optimization_id),
            "status": map(_statuses.__getitem__, columns["status"]),
            "summary": values_of(TrialSummary, len(rows), columns),
            "type": map(_types.__getitem__, columns["type"]),
        },
    )


def rejection_rows(
    optimization_id: str, rejections: Iterable[Rejection], start: int, now: str
) -> list[BulkRow]:
    """Rejections in the order of the table's columns, from a position on."""
    return [
        tuple(
            row_of(
                validation_rejections,
                one,
                optimization_id=optimization_id,
                position=position,
                created_at=parse_time(one.created_at) if one.created_at else now,
            ).values()
        )
        for position, one in enumerate(rejections, start)
    ]


async def get_record(connection: AsyncConnection, optimization_id: str) -> OptimizationRecord:
    """One optimization with its documents."""
    row = (await connection.execute(_get, {"of_id": optimization_id})).one_or_none()
    if row is None:
        raise leases.not_found(optimization_id)
    return read_record(row)


async def newest_records(
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
    rows = await _rows(connection, _list_rejections, optimization_id)
    return [value_of(Rejection, row) for row in rows]


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
