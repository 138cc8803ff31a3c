"""A dataset that comes in over the network: kept wholly or not at all."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from burnish.app.wiring import Workspace
from burnish.domain import DatasetRecord, UnavailableError, UsageError
from burnish.domain.errors import RowsError
from burnish.domain.wording import counted
from burnish.evaluation.datasets import Dataset
from burnish.evaluation.datasets.index import DatasetIndex
from burnish.evaluation.datasets.problems import RowProblem
from burnish.support.names import require_name

FORMATS = ("jsonl", "csv", "json")
_LISTED = 100
_WRITE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredUpload:
    """What was kept. Warnings are of rows that were left out or are odd, the first hundred."""

    record: DatasetRecord
    created: bool
    warnings: Sequence[RowProblem]


async def store_upload(
    workspace: Workspace, name: str, kind: str, parts: AsyncIterator[bytes]
) -> StoredUpload:
    """Keep what comes in. It lies in a file meanwhile, so that its size needs no memory."""
    require_name("dataset", name)
    with tempfile.TemporaryDirectory(prefix="burnish-upload-") as folder:
        path = Path(folder) / f"upload.{kind}"
        await receive(path, parts)
        return await _store(workspace, Dataset.of(path, name=name))


async def store_rows(workspace: Workspace, dataset: Dataset) -> StoredUpload:
    """Keep rows that are here already."""
    require_name("dataset", dataset.name)
    return await _store(workspace, dataset)


async def _store(workspace: Workspace, dataset: Dataset) -> StoredUpload:
    index = await asyncio.to_thread(dataset.inspect)
    _require_usable(index)
    page = await workspace.dataset_pages.datasets(name=dataset.name, limit=1)
    record = await workspace.datasets.ensure_dataset(
        dataset.name, index.fingerprint, dataset.items()
    )
    newest = page.items[0] if page.items else None
    # Ids grow with time, so a new one is past all that were there before.
    created = newest is None or record.created_at > newest.created_at
    return StoredUpload(record=record, created=created, warnings=index.warnings)


async def receive(path: Path, parts: AsyncIterator[bytes]) -> None:
    """Write what comes in to a file."""
    waiting = bytearray()
    try:
        with path.open("wb", buffering=_WRITE_BYTES) as file:
            async for part in parts:
                waiting += part
                if len(waiting) >= _WRITE_BYTES:
                    await asyncio.to_thread(file.write, bytes(waiting))
                    waiting.clear()
            await asyncio.to_thread(file.write, bytes(waiting))
    except OSError as error:
        raise UnavailableError(
            what="the upload cannot be taken, and nothing was stored",
            why=f"the server's disk for temporary files: {error.strerror or error}",
            fix="free some space there, or set TMPDIR for the server to a folder with more",
            code="disk",
        ) from error


def _require_usable(index: DatasetIndex) -> None:
    """Names each bad row by its line, and never the file that it lay in here."""
    if index.problems:
        total = sum(count for kind, count in index.counts.items() if kind.fatal)
        first = index.problems[0]
        raise RowsError(
            what=f"{counted(total, 'row')} cannot be used, and nothing was stored",
            why=f"{first.place}: {first.message}",
            fix="correct the rows that `problems` lists, then send all of it again",
            code="broken_row",
            problems=[(one.place, one.message) for one in index.problems[:_LISTED]],
        )
    if not index.count:
        raise UsageError(
            what="the dataset is empty, and nothing was stored",
            why="it has no rows",
            fix="send rows: one JSON object a line, or CSV with a line of names first",
            code="empty_dataset",
        )
