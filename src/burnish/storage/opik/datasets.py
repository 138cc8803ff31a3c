"""Datasets of Opik clients: they grow, and are found by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, func, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from burnish.domain import UsageError
from burnish.domain.opik_records import OpikDataset, OpikRow
from burnish.storage.engine.bulk import chunks
from burnish.storage.engine.codec import SafeText
from burnish.storage.engine.database import AnyRow
from burnish.storage.opik.tables import opik_datasets, opik_rows

_datasets, _rows = opik_datasets.c, opik_rows.c
_of_id = _datasets.id == bindparam("of_id", type_=SafeText)
_of_dataset = _rows.dataset_id == bindparam("of_id", type_=SafeText)
_by_id = select(opik_datasets).where(_of_id)
_by_name = select(opik_datasets).where(
    _datasets.workspace == bindparam("of_workspace", type_=SafeText),
    _datasets.name == bindparam("of_name", type_=SafeText),
)
_add = {
    dialect: insert(opik_datasets).on_conflict_do_nothing()
    for dialect, insert in (("sqlite", sqlite.insert), ("postgresql", postgresql.insert))
}
# Locks the dataset too: positions are given out one writer after the other.
_forget_snapshot = update(opik_datasets).where(_of_id).values(snapshot=None).returning(_datasets.id)
_note = update(opik_datasets).where(_of_id).values(snapshot=bindparam("new", type_=SafeText))
_count = select(func.count()).where(_of_dataset)
_next = select(func.coalesce(func.max(_rows.position) + 1, 0)).where(_of_dataset)
_position = select(_rows.position).where(_of_dataset, _rows.id == bindparam("row", type_=SafeText))
_page = select(_rows.id, _rows.document).where(_of_dataset).order_by(_rows.position)


def _upsert(insert: Any) -> Any:
    statement = insert(opik_rows)
    return statement.on_conflict_do_update(
        index_elements=[_rows.dataset_id, _rows.id],
        set_={"document": statement.excluded.document},
    )


_put = {"sqlite": _upsert(sqlite.insert), "postgresql": _upsert(postgresql.insert)}


async def add(connection: AsyncConnection, dataset: OpikDataset, now: str) -> OpikDataset:
    """The dataset of that name, which is this one where there was none."""
    row = {
        "id": dataset.id,
        "workspace": dataset.workspace,
        "name": dataset.name,
        "snapshot": None,
        "created_at": now,
        "document": dict(dataset.document),
    }
    await connection.execute(_add[connection.dialect.name], row)
    return await find(connection, dataset.workspace, dataset.name) or await get(
        connection, dataset.id
    )


async def find(connection: AsyncConnection, workspace: str, name: str) -> OpikDataset | None:
    """The dataset of a name."""
    bound = {"of_workspace": workspace, "of_name": name}
    row = (await connection.execute(_by_name, bound)).one_or_none()
    return None if row is None else _read(row)


async def get(connection: AsyncConnection, dataset_id: str) -> OpikDataset:
    """The dataset of an id."""
    row = (await connection.execute(_by_id, {"of_id": dataset_id})).one_or_none()
    if row is None:
        raise not_found(f"dataset {dataset_id!r}")
    return _read(row)


async def put_rows(connection: AsyncConnection, dataset_id: str, rows: Sequence[OpikRow]) -> None:
    """New rows behind those that are there; known ones in their places."""
    of_id = {"of_id": dataset_id}
    if await connection.scalar(_forget_snapshot, of_id) is None:
        raise not_found(f"dataset {dataset_id!r}")
    first = int(await connection.scalar(_next, of_id) or 0)
    values = [
        {
            "dataset_id": dataset_id,
            "id": row.id,
            "position": first + index,
            "document": dict(row.document),
        }
        for index, row in enumerate({one.id: one for one in rows}.values())
    ]
    for chunk in chunks(values):
        await connection.execute(_put[connection.dialect.name], list(chunk))


async def count(connection: AsyncConnection, dataset_id: str) -> int:
    """How many rows there are."""
    return int(await connection.scalar(_count, {"of_id": dataset_id}) or 0)


async def page(
    connection: AsyncConnection, dataset_id: str, *, limit: int, offset: int, after: str | None
) -> list[OpikRow]:
    """Some rows in their order."""
    wanted = _page.limit(max(limit, 0)).offset(max(offset, 0))
    if after is not None:
        seen = await connection.scalar(_position, {"of_id": dataset_id, "row": after})
        wanted = wanted.where(_rows.position > (-1 if seen is None else seen))
    found = await connection.execute(wanted, {"of_id": dataset_id})
    return [OpikRow(id=row.id, document=row.document) for row in found]


async def note_snapshot(
    connection: AsyncConnection, dataset_id: str, snapshot: str, rows: int
) -> None:
    """Remember our dataset of the rows, unless they are others by now."""
    of_id = {"of_id": dataset_id}
    if await connection.scalar(_count, of_id) == rows:
        await connection.execute(_note, {**of_id, "new": snapshot})


def not_found(what: str) -> UsageError:
    """There is no such thing."""
    return UsageError(
        what=f"there is no {what}",
        why="no Opik client has made one here",
        fix="create it first",
        code="not_found",
    )


def _read(row: AnyRow) -> OpikDataset:
    return OpikDataset(**row._mapping)  # noqa: SLF001 - SQLAlchemy's public name for it
