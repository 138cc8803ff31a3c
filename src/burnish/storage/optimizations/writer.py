"""Writes the parts of an optimization, in the transaction of a caller who has locked it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, delete, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from burnish.domain import Candidate, InvariantError, Rejection, TrialResult
from burnish.storage.engine.bulk import BulkInsert
from burnish.storage.engine.codec import SafeText
from burnish.storage.optimizations.rows import (
    candidate_row,
    rejection_rows,
    trial_values,
)
from burnish.storage.optimizations.tables import (
    candidates,
    optimization_documents,
    trials,
    validation_rejections,
)

_add_candidates = BulkInsert(candidates, existing="skip")
_add_rejections = BulkInsert(validation_rejections)
_put_documents = BulkInsert(optimization_documents, existing="replace")
_drop_document = delete(optimization_documents).where(
    optimization_documents.c.optimization_id == bindparam("of_id", type_=SafeText),
    optimization_documents.c.name == bindparam("of_name"),
)
_rejections = validation_rejections.c
_of_optimization = _rejections.optimization_id == bindparam("of_id", type_=SafeText)
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


_save_trial = {
    "sqlite": _trial_upsert(sqlite.insert),
    "postgresql": _trial_upsert(postgresql.insert),
}


async def add_candidates(
    connection: AsyncConnection, optimization_id: str, accepted: Iterable[Candidate]
) -> None:
    """Add those that are new."""
    await _add_candidates(connection, [candidate_row(optimization_id, one) for one in accepted])


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
    rows = rejection_rows(optimization_id, rejected, 0 if last is None else last + 1, now)
    if again:
        named = zip((column.name for column in _rejections), rows[0], strict=True)
        first = {f"of_{name}": value for name, value in named}
        if await connection.scalar(_same_rejection, {**first, **of_id}) is not None:
            return
    await _add_rejections(connection, rows)


async def put_document(
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


async def save_trial(connection: AsyncConnection, optimization_id: str, trial: TrialResult) -> None:
    """Insert or replace a candidate's trial, or a mini-batch by its experiment."""
    values = trial_values(optimization_id, trial)
    saved = await connection.execute(_save_trial[connection.dialect.name], values)
    if not saved.rowcount:
        raise InvariantError(
            what=f"a trial of optimization {optimization_id} was not saved",
            why=f"there is no candidate {trial.candidate_id!r} in it",
            fix="please report this",
        )
