"""Keeps what Opik clients send."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from sqlalchemy import bindparam, select
from sqlalchemy.ext.asyncio import AsyncConnection

from burnish.domain.opik_records import (
    Document,
    OpikDataset,
    OpikItem,
    OpikRow,
    OpikRun,
    OpikScore,
)
from burnish.storage.engine.bulk import BulkInsert
from burnish.storage.engine.codec import SafeText
from burnish.storage.engine.database import Database
from burnish.storage.opik import datasets as opik_datasets
from burnish.storage.opik import runs as opik_runs
from burnish.storage.opik.tables import opik_projects, opik_spans, opik_traces

# Any fixed value: it only keeps these ids apart from other uses of UUIDv5.
_NAMESPACE = uuid.UUID("6a6c4f2e-1f0b-4c0e-9a55-0d0f0b8f7a31")
_add_project = BulkInsert(opik_projects, existing="skip")
_project = select(opik_projects.c.name).where(
    opik_projects.c.id == bindparam("of_id", type_=SafeText)
)


async def _project_name(connection: AsyncConnection, project_id: str) -> str | None:
    found: str | None = await connection.scalar(_project, {"of_id": project_id})
    return found


class SqlOpikRecords:
    """OpikRecords on an open database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def project_id(self, workspace: str, name: str) -> str:
        """The id of a project."""
        identity = str(uuid.uuid5(_NAMESPACE, f"{workspace}\n{name}"))

        async def read(connection: AsyncConnection) -> str | None:
            return await _project_name(connection, identity)

        async def write(connection: AsyncConnection) -> None:
            await _add_project(connection, [(identity, workspace, name)])

        if await self._database.read(read) is None:
            await self._database.write(write)
        return identity

    async def project_name(self, project_id: str) -> str | None:
        """The name behind an id."""
        return await self._database.read(lambda connection: _project_name(connection, project_id))

    async def add_dataset(self, dataset: OpikDataset) -> OpikDataset:
        """The dataset of that name."""
        now = self._database.stamp()
        return await self._database.write(
            lambda connection: opik_datasets.add(connection, dataset, now)
        )

    async def find_dataset(self, workspace: str, name: str) -> OpikDataset | None:
        """By name."""
        return await self._database.read(
            lambda connection: opik_datasets.find(connection, workspace, name)
        )

    async def get_dataset(self, dataset_id: str) -> OpikDataset:
        """By id."""
        return await self._database.read(
            lambda connection: opik_datasets.get(connection, dataset_id)
        )

    async def put_rows(self, dataset_id: str, rows: Sequence[OpikRow]) -> None:
        """Add rows, or change them."""
        await self._database.write(
            lambda connection: opik_datasets.put_rows(connection, dataset_id, rows)
        )

    async def count_rows(self, dataset_id: str) -> int:
        """How many there are."""
        return await self._database.read(
            lambda connection: opik_datasets.count(connection, dataset_id)
        )

    async def rows(
        self, dataset_id: str, *, limit: int, offset: int = 0, after: str | None = None
    ) -> list[OpikRow]:
        """Some of them."""
        return await self._database.read(
            lambda connection: opik_datasets.page(
                connection, dataset_id, limit=limit, offset=offset, after=after
            )
        )

    async def note_snapshot(self, dataset_id: str, snapshot: str, *, rows: int) -> None:
        """Remember it."""
        await self._database.write(
            lambda connection: opik_datasets.note_snapshot(connection, dataset_id, snapshot, rows)
        )

    async def put_traces(self, documents: Sequence[Document]) -> None:
        """Keep traces."""
        await self._database.write(
            lambda connection: opik_runs.put_documents(connection, opik_traces, documents)
        )

    async def put_spans(self, documents: Sequence[Document]) -> None:
        """Keep spans."""
        await self._database.write(
            lambda connection: opik_runs.put_documents(connection, opik_spans, documents)
        )

    async def put_scores(self, scores: Sequence[OpikScore]) -> None:
        """Keep scores."""
        await self._database.write(lambda connection: opik_runs.put_scores(connection, scores))

    async def put_items(self, items: Sequence[OpikItem]) -> None:
        """Keep experiment items."""
        await self._database.write(lambda connection: opik_runs.put_items(connection, items))

    async def experiments_of(self, trace_ids: Sequence[str]) -> dict[str, set[str]]:
        """Which experiments some traces are of."""
        return await self._database.read(
            lambda connection: opik_runs.experiments_of(connection, trace_ids)
        )

    async def runs(
        self, experiment_id: str, item_ids: Sequence[str] | None = None
    ) -> list[OpikRun]:
        """The runs of an experiment."""
        return await self._database.read(
            lambda connection: opik_runs.runs(connection, experiment_id, item_ids)
        )
