"""Optimizations, candidates, trials and rejections: as rows and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import repeat
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import bindparam, func, select

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
from burnish.storage.engine.bulk import (
    BulkInsert,
    as_stored,
    by_column,
    by_dialect,
    row_of,
    value_of,
    values_of,
)
from burnish.storage.engine.bulk import Row as BulkRow
from burnish.storage.engine.codec import SafeText, decode_jsons, decode_texts
from burnish.storage.engine.connections import AsyncConnection
from burnish.storage.engine.database import AnyRow, parse_time
from burnish.storage.optimizations.tables import (
    candidates,
    optimizations,
    trials,
    validation_rejections,
)

if TYPE_CHECKING:
    from burnish.domain.optimizations.pages import TrialLine

Line = TypeVar("Line", bound="TrialLine")

_statuses = {one.value: one for one in ExperimentStatus}
_types = {one.value: one for one in ExperimentType}

_of = bindparam("of_id", type_=SafeText)
_columns, _trials = optimizations.c, trials.c
# Neither the baseline nor mini-batches count; the primary key alone answers it.
_trial_count = (
    select(func.count())
    .where(_trials.optimization_id == _columns.id, _trials.number > 0, _trials.slot == "")
    .scalar_subquery()
    .label("trials")
)
# The columns of a record without its documents.
RECORD_COLUMNS = [
    column for column in _columns if column.name not in ("lease_token", "lease_expires")
] + [_trial_count]

# The columns that `read_candidates` and `read_trials` take.
CANDIDATE_COLUMNS = [
    as_stored(column)
    for column in candidates.c
    if column.name not in ("optimization_id", "configuration_hash")
]
TRIAL_COLUMNS = [as_stored(column) for column in _trials if not column.primary_key]
# A trial or mini-batch with as much of its candidate as `read_lines` takes.
LINE_COLUMNS = [
    *(as_stored(one) for one in _trials if one.name not in ("optimization_id", "mask_id")),
    *(as_stored(candidates.c[one]) for one in ("step_index", "parent_candidate_ids", "rationale")),
]
TRIALS_OF_CANDIDATES = trials.join(
    candidates,
    (candidates.c.optimization_id == _trials.optimization_id)
    & (candidates.c.number == _trials.number),
)
ONE_CANDIDATE = select(*CANDIDATE_COLUMNS).where(
    candidates.c.optimization_id == _of,
    candidates.c.candidate_id == bindparam("of_candidate", type_=SafeText),
)

_rejections = validation_rejections.c
_of_optimization = _rejections.optimization_id == _of
_insert_rejections = BulkInsert(validation_rejections)
_last_rejection = select(func.max(_rejections.position)).where(_of_optimization)
_same_rejection = select(_rejections.position).where(
    _of_optimization,
    *(
        _rejections[name] == bindparam(f"of_{name}", type_=_rejections[name].type)
        for name in ("step_index", "proposed_index", "reason_code", "created_at")
    ),
)


def _trial_upsert(insert: Any) -> Any:
    """The trial with its candidate's number; no row where there is no such candidate."""
    given = {
        column.name: bindparam(column.name, type_=column.type)
        for column in trials.c
        if column.name != "number"
    }
    source = select(candidates.c.number, *given.values()).where(
        candidates.c.optimization_id == given["optimization_id"],
        candidates.c.candidate_id == given["candidate_id"],
    )
    statement = insert(trials).from_select(["number", *given], source)
    others = [column.name for column in trials.c if not column.primary_key]
    return statement.on_conflict_do_update(
        index_elements=list(trials.primary_key.columns),
        set_={name: statement.excluded[name] for name in others},
    ).execution_options(preserve_rowcount=True)


UPSERT_TRIAL = by_dialect(_trial_upsert)


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


def read_lines(kind: type[Line], rows: Sequence[AnyRow]) -> list[Line]:
    """Lines, or what extends them, from their columns as they are stored."""
    if not rows:
        return []
    columns = by_column(rows)
    texts = ("candidate_id", "experiment_id", "error", "rationale", "slot")
    return values_of(
        kind,
        len(rows),
        {
            **columns,
            **{name: decode_texts(columns[name]) for name in texts},
            "type": map(_types.__getitem__, columns["type"]),
            "status": map(_statuses.__getitem__, columns["status"]),
            "parent_candidate_ids": map(tuple, decode_jsons(columns["parent_candidate_ids"])),
        },
    )


async def add_rejections(
    connection: AsyncConnection,
    optimization_id: str,
    rejected: Sequence[Rejection],
    *,
    now: str,
    again: bool,
) -> None:
    """Add rejections behind those that are there.

    `again` says that this was tried before, and may have got through without an answer.
    """
    if not rejected:
        return
    of_id = {"of_id": optimization_id}
    last = await connection.scalar(_last_rejection, of_id)
    rows = [
        row_of(
            validation_rejections,
            one,
            optimization_id=optimization_id,
            position=position,
            created_at=parse_time(one.created_at) if one.created_at else now,
        )
        for position, one in enumerate(rejected, 0 if last is None else last + 1)
    ]
    if again:
        first = {f"of_{name}": value for name, value in rows[0].items()}
        if await connection.scalar(_same_rejection, {**first, **of_id}) is not None:
            return
    await _insert_rejections(connection, [tuple(row.values()) for row in rows])
