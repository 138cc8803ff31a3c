"""Datasets: rows stored once a content, read whole or in pages, and origins of regression cases."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from sqlalchemy import ColumnElement, Integer, and_, bindparam, or_, select, update

from burnish.domain import DatasetRecord, Item, UsageError
from burnish.domain.experiments.repositories import DatasetRow
from burnish.domain.pages import Page
from burnish.storage.engine.bulk import (
    BulkInsert,
    chunks,
    rows_of_many,
    skipping_insert,
    value_of,
)
from burnish.storage.engine.codec import SafeText
from burnish.storage.engine.connections import AsyncConnection
from burnish.storage.engine.database import AnyRow, Database
from burnish.storage.engine.listing import holds_json, holds_text, page_of, sorted_page
from burnish.storage.experiments.tables import dataset_items, dataset_origins, datasets
from burnish.support.ids import new_id

_BATCH = 500

_by_content = select(datasets).where(
    datasets.c.name == bindparam("of_name", type_=SafeText),
    datasets.c.fingerprint == bindparam("of_fingerprint", type_=SafeText),
)
_by_id = select(datasets).where(datasets.c.id == bindparam("dataset", type_=SafeText))
_page = (
    select(dataset_items)
    .where(
        dataset_items.c.dataset_id == bindparam("dataset", type_=SafeText),
        dataset_items.c.position > bindparam("last", type_=Integer),
    )
    .order_by(dataset_items.c.position)
    .limit(_BATCH)
)
_claim = skipping_insert(datasets, "name", "fingerprint")
_insert_items = BulkInsert(dataset_items)

_columns, _items, _origins = datasets.c, dataset_items.c, dataset_origins.c
_its_origin = and_(_origins.dataset_id == _items.dataset_id, _origins.item_id == _items.item_id)
_row = select(dataset_items, _origins.origin).select_from(
    dataset_items.outerjoin(dataset_origins, _its_origin)
)
_rows_of_items = _row.where(
    _items.dataset_id == bindparam("dataset", type_=SafeText),
    _items.item_id.in_(bindparam("items", type_=SafeText, expanding=True)),
)
_all_origins = select(_origins.item_id, _origins.origin).where(
    _origins.dataset_id == bindparam("dataset", type_=SafeText)
)
_add_origins = BulkInsert(dataset_origins, existing="skip")


class SqlDatasetRepository:
    """A DatasetRepository on an open database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def ensure_dataset(
        self, name: str, fingerprint: str, items: Iterable[Item]
    ) -> DatasetRecord:
        """The record of this content; its rows are read only when it is new."""
        content = {"of_name": name, "of_fingerprint": fingerprint}
        stored = await self._database.one_row(_by_content, content)
        if stored is None:
            await self._add(name, fingerprint, items)
            stored = await self._database.one_row(_by_content, content)
        assert stored is not None
        return value_of(DatasetRecord, stored)

    async def get_dataset(self, dataset_id: str) -> DatasetRecord:
        """One dataset's record."""
        stored = await self._database.read(
            lambda connection: require_dataset(connection, dataset_id)
        )
        return value_of(DatasetRecord, stored)

    async def stream_items(self, dataset_id: str) -> AsyncIterator[Item]:
        """All rows in order, a transaction for each page."""
        await self.get_dataset(dataset_id)
        last = -1
        while True:
            page = await self._database.all_rows(_page, {"dataset": dataset_id, "last": last})
            for row in page:
                yield Item(id=row.item_id, data=row.data, split=row.split)
            if len(page) < _BATCH:
                return
            last = page[-1].position

    async def _add(self, name: str, fingerprint: str, items: Iterable[Item]) -> None:
        """Write a dataset in one transaction, unless somebody else is or was quicker.

        Few rows are one write like any other; many are read while they are written.
        """
        row: dict[str, Any] = {
            "id": new_id(),
            "name": name,
            "fingerprint": fingerprint,
            "items": 0,
            "created_at": self._database.stamp(),
        }
        source = iter(items)
        first = list(islice(source, _BATCH))
        if len(first) < _BATCH:
            await self._add_few({**row, "items": len(first)}, first)
            return
        async with self._database.transaction() as connection:
            # Whoever comes second waits here until the first one is through.
            async with self._database.deadline():
                claimed = await connection.execute(_claim[connection.dialect.name], row)
            if not claimed.rowcount:
                return
            count = await self._write_items(connection, row["id"], chain(first, source))
            await connection.execute(
                update(datasets).where(datasets.c.id == row["id"]).values(items=count)
            )

    async def _add_few(self, row: Mapping[str, Any], items: Sequence[Item]) -> None:
        async def work(connection: AsyncConnection) -> None:
            claimed = await connection.execute(_claim[connection.dialect.name], row)
            if claimed.rowcount:
                await _insert_items(connection, _rows_of(row["id"], items, 0))

        await self._database.write(work)

    async def _write_items(
        self, connection: AsyncConnection, dataset_id: str, items: Iterable[Item]
    ) -> int:
        source = iter(items)
        count = 0
        while batch := list(islice(source, _BATCH)):
            async with self._database.deadline():
                await _insert_items(connection, _rows_of(dataset_id, batch, count))
            count += len(batch)
        return count


def _rows_of(dataset_id: str, items: Sequence[Item], first: int) -> list[tuple[Any, ...]]:
    return [
        (dataset_id, first + offset, item.id, item.hash, item.split, item.data)
        for offset, item in enumerate(items)
    ]


async def require_dataset(connection: AsyncConnection, dataset_id: str) -> AnyRow:
    """A dataset's row; UsageError when there is none."""
    stored = (await connection.execute(_by_id, {"dataset": dataset_id})).one_or_none()
    if stored is None:
        raise UsageError(
            what=f"there is no dataset {dataset_id!r}",
            why="no dataset with that id is stored",
            fix="upload it, or run an evaluation on it first",
            code="not_found",
        )
    return stored


class SqlDatasetPages:
    """Reads parts of datasets, in time that grows with the part and not with the whole."""

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
        """The newest first; with `text`, those that have it in their name."""
        wanted = select(datasets)
        if name is not None:
            wanted = wanted.where(_columns.name == name)
        if text:
            wanted = wanted.where(holds_text(_columns.name, text))
        keys = [_columns.created_at, _columns.id]
        statement = sorted_page(wanted, keys, down=True, limit=limit, after=after)
        rows = await self._database.all_rows(statement)
        return page_of(rows, limit, lambda row: value_of(DatasetRecord, row), "created_at", "id")

    async def rows(
        self,
        dataset_id: str,
        *,
        text: str | None = None,
        limit: int = 50,
        after: Sequence[Any] | None = None,
    ) -> Page[DatasetRow]:
        """In order; UsageError `not_found` when there is no such dataset.

        With `text`, those that have it in their id or anywhere in their JSON, in any case.
        """
        wanted = _row.where(_items.dataset_id == dataset_id)
        if text:
            wanted = wanted.where(_has(text))
        statement = sorted_page(wanted, [_items.position], down=False, limit=limit, after=after)

        async def work(connection: AsyncConnection) -> Page[DatasetRow]:
            await require_dataset(connection, dataset_id)
            return page_of((await connection.execute(statement)).all(), limit, _read, "position")

        return await self._database.read(work)

    async def find_rows(self, dataset_id: str, item_ids: Sequence[str]) -> dict[str, DatasetRow]:
        """Rows by item id; those that are not there are left out."""
        rows = await self._database.read(
            lambda connection: rows_of_many(
                connection, _rows_of_items, "items", item_ids, dataset=dataset_id
            )
        )
        return {row.item_id: _read(row) for row in rows}

    async def matching(self, dataset_id: str, text: str) -> set[str]:
        """The ids of all rows that have a text, as `rows` looks for it."""
        wanted = select(_items.item_id).where(_items.dataset_id == dataset_id, _has(text))
        return {row.item_id for row in await self._database.all_rows(wanted)}

    async def origins(self, dataset_id: str) -> dict[str, Mapping[str, Any]]:
        """Where rows came from, by item id."""
        rows = await self._database.all_rows(_all_origins, {"dataset": dataset_id})
        return {row.item_id: row.origin for row in rows}

    async def add_origins(self, dataset_id: str, origins: Mapping[str, Mapping[str, Any]]) -> None:
        """Note where rows came from; what is noted already stays."""
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
