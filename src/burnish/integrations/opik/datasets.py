"""Datasets of Opik clients, and our own datasets of their rows as they were when a run began."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from burnish.app.wiring import Workspace
from burnish.domain import Item, UsageError, exact_hash
from burnish.domain.opik import OpikDataset, OpikRow
from burnish.evaluation.datasets import Dataset
from burnish.support.ids import new_id

MOST_ROWS = 200_000
_PAGE = 2_000


async def named_dataset(workspace: Workspace, place: str, name: str) -> OpikDataset:
    """The dataset of a name, made where there is none: Opik makes it too."""
    found = await workspace.opik.find_dataset(place, name)
    if found is not None:
        return found
    new = OpikDataset(id=new_id(), workspace=place, name=name)
    return await workspace.opik.add_dataset(new)


async def put_rows(workspace: Workspace, dataset: OpikDataset, rows: Sequence[OpikRow]) -> None:
    """Add rows, up to what a dataset may hold."""
    if await workspace.opik.count_rows(dataset.id) + len(rows) > MOST_ROWS:
        raise UsageError(
            what=f"rows cannot be added to the dataset {dataset.name!r}",
            why=f"a dataset of an Opik client holds at most {MOST_ROWS:,} rows here",
            fix="use a smaller dataset, or upload it as a file to /v1/private/datasets",
            code="too_many_rows",
        )
    await workspace.opik.put_rows(dataset.id, rows)


async def snapshot(workspace: Workspace, dataset: OpikDataset) -> str | None:
    """The id of our dataset with the rows that it has now; None without any."""
    if dataset.snapshot is not None:
        return dataset.snapshot
    rows: list[OpikRow] = []
    while True:
        page = await workspace.opik.rows(dataset.id, limit=_PAGE, offset=len(rows))
        rows.extend(page)
        if len(page) < _PAGE:
            break
    if not rows:
        return None
    fingerprint, items = await asyncio.to_thread(_content, dataset.name, rows)
    record = await workspace.datasets.ensure_dataset(dataset.name, fingerprint, items)
    await workspace.opik.note_snapshot(dataset.id, record.id, rows=len(rows))
    return record.id


def data_of(row: OpikRow) -> dict[str, Any]:
    """What stands in a row."""
    data = row.document.get("data")
    return dict(data) if isinstance(data, dict) else {}


def _content(name: str, rows: Sequence[OpikRow]) -> tuple[str, list[Item]]:
    dataset = Dataset.of([{**data_of(row), "id": row.id} for row in rows], name=name)
    try:
        items = list(dataset.items())
        if len(items) == len(rows):
            return dataset.index().fingerprint, items
    except UsageError:
        pass
    # Rows that a file of ours could not hold, such as empty ones: kept as they are.
    items = [Item(id=row.id, data=data_of(row)) for row in rows]
    return exact_hash([[one.id, one.hash] for one in items]), items
