"""Reads stored datasets as pages, and keeps where regression cases came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, and_, bindparam, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from burnish.domain import DatasetRecord, Item
from burnish.domain.dataset_pages import DatasetRow
from burnish.domain.read_models import Page
from burnish.storage.engine.bulk import BulkInsert, chunks
from burnish.storage.engine.codec import SafeText
from burnish.storage.engine.database import AnyRow, Database
from burnish.storage.engine.page_keys import sorted_page
from burnish.storage.engine.text_search import holds_json, holds_text
from burnish.storage.experiments.datasets import require_dataset
from burnish.storage.experiments.tables import dataset_items, datasets
from burnish.storage.registry.tables import dataset_origins

_columns, _items, _origins = datasets.c, dataset_items.c, dataset_origins.c
_its_origin = and_(_origins.dataset_id == _items.dataset_id, _origins.item_id == _items.item_id)
_row = select(dataset_items, _origins.origin).select_from(
    dataset_items.outerjoin(dataset_origins, _its_origin)
)
_all_origins = select(_origins.item_id, _origins.origin).where(
    _origins.dataset_id == bindparam("dataset", type_=SafeText)
)
_add_origins = BulkInsert(dataset_origins, existing="skip")


class SqlDatasetPages:
    """DatasetPages on an open database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def datasets(
        self,
        *,
        name: str | None = None,
        text: str | None = None,
        limit: int = 50,
        after: Sequence[Any] | None = None,
    ) -> Page[DatasetRecord]:
        """The newest first."""
        wanted = select(datasets)
        if name is not None:
            wanted = wanted.where(_columns.name == name)
        if text:
            wanted = wanted.where(holds_text(_columns.name, text))
        keys = [_columns.created_at, _columns.id]
        statement = sorted_page(wanted, keys, down=True, limit=limit, after=after)

        async def work(connection: AsyncConnection) -> list[AnyRow]:
            return list((await connection.execute(statement)).all())

        rows = await self._database.read(work)
        last = rows[limit - 1] if len(rows) > limit else None
        return Page(
            items=[DatasetRecord(**row._mapping) for row in rows[:limit]],  # noqa: SLF001 - public
            next=None if last is None else (last.created_at, last.id),
        )

    async def rows(
        self,
        dataset_id: str,
        *,
        text: str | None = None,
        limit: int = 50,
        after: Sequence[Any] | None = None,
    ) -> Page[DatasetRow]:
        """In order."""
        wanted = _row.where(_items.dataset_id == dataset_id)
        if text:
            wanted = wanted.where(_has(text))
        statement = sorted_page(wanted, [_items.position], down=False, limit=limit, after=after)

        async def work(connection: AsyncConnection) -> list[AnyRow]:
            await require_dataset(connection, dataset_id)
            return list((await connection.execute(statement)).all())

        rows = await self._database.read(work)
        return Page(
            items=[_read(row) for row in rows[:limit]],
            next=(rows[limit - 1].position,) if len(rows) > limit else None,
        )

    async def find_rows(self, dataset_id: str, item_ids: Sequence[str]) -> dict[str, DatasetRow]:
        """Rows by item id."""

        async def work(connection: AsyncConnection) -> dict[str, DatasetRow]:
            found: dict[str, DatasetRow] = {}
            for chunk in chunks(list(dict.fromkeys(item_ids))):
                wanted = _row.where(_items.dataset_id == dataset_id, _items.item_id.in_(chunk))
                for row in await connection.execute(wanted):
                    found[row.item_id] = _read(row)
            return found

        return await self._database.read(work)

    async def matching(self, dataset_id: str, text: str) -> set[str]:
        """The ids of all rows that have a text."""
        wanted = select(_items.item_id).where(_items.dataset_id == dataset_id, _has(text))

        async def work(connection: AsyncConnection) -> set[str]:
            return set((await connection.scalars(wanted)).all())

        return await self._database.read(work)

    async def origins(self, dataset_id: str) -> dict[str, Mapping[str, Any]]:
        """Where rows came from, by item id."""

        async def work(connection: AsyncConnection) -> dict[str, Mapping[str, Any]]:
            found = await connection.execute(_all_origins, {"dataset": dataset_id})
            return {row.item_id: row.origin for row in found}

        return await self._database.read(work)

    async def add_origins(self, dataset_id: str, origins: Mapping[str, Mapping[str, Any]]) -> None:
        """Note where rows came from."""
        rows = [(dataset_id, item_id, dict(origin)) for item_id, origin in origins.items()]

        async def work(connection: AsyncConnection) -> None:
            for chunk in chunks(rows):
                await _add_origins(connection, chunk)

        await self._database.write(work)


def _has(text: str) -> ColumnElement[bool]:
    return or_(holds_text(_items.item_id, text), holds_json(_items.data, text))


def _read(row: AnyRow) -> DatasetRow:
    item = Item(id=row.item_id, data=row.data, split=row.split)
    return DatasetRow(position=row.position, item=item, origin=row.origin)
