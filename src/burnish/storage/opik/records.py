"""Records of Opik clients: projects, datasets, traces, spans and scores, kept as they were sent."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Table, bindparam, func, select, update

from burnish.domain import UsageError
from burnish.domain.opik import (
    Document,
    OpikDataset,
    OpikItem,
    OpikRow,
    OpikRun,
    OpikScore,
)
from burnish.storage.engine.bulk import (
    BulkInsert,
    by_dialect,
    chunks,
    row_of,
    rows_of_many,
    skipping_insert,
    value_of,
)
from burnish.storage.engine.bulk import Row as BulkRow
from burnish.storage.engine.codec import SafeText
from burnish.storage.engine.connections import AsyncConnection
from burnish.storage.engine.database import AnyRow, Database
from burnish.storage.opik.tables import (
    opik_datasets,
    opik_items,
    opik_projects,
    opik_rows,
    opik_scores,
    opik_spans,
    opik_traces,
)

# Any fixed value: it only keeps these ids apart from other uses of UUIDv5.
_NAMESPACE = uuid.UUID("6a6c4f2e-1f0b-4c0e-9a55-0d0f0b8f7a31")
_add_project = BulkInsert(opik_projects, existing="skip")
_project = select(opik_projects.c.name).where(
    opik_projects.c.id == bindparam("of_id", type_=SafeText)
)

_datasets, _rows = opik_datasets.c, opik_rows.c
_dataset_of_id = _datasets.id == bindparam("of_id", type_=SafeText)
_row_of_dataset = _rows.dataset_id == bindparam("of_id", type_=SafeText)
_dataset_by_id = select(opik_datasets).where(_dataset_of_id)
_dataset_by_name = select(opik_datasets).where(
    _datasets.workspace == bindparam("of_workspace", type_=SafeText),
    _datasets.name == bindparam("of_name", type_=SafeText),
)
_add_datasets = skipping_insert(opik_datasets)
# Locks the dataset too: positions are given out one writer after the other.
_forget_snapshot = (
    update(opik_datasets).where(_dataset_of_id).values(snapshot=None).returning(_datasets.id)
)
_set_snapshot = (
    update(opik_datasets).where(_dataset_of_id).values(snapshot=bindparam("new", type_=SafeText))
)
_row_count = select(func.count()).where(_row_of_dataset)
_next_position = select(func.coalesce(func.max(_rows.position) + 1, 0)).where(_row_of_dataset)
_position = select(_rows.position).where(
    _row_of_dataset, _rows.id == bindparam("row", type_=SafeText)
)
_all_rows = select(_rows.id, _rows.document).where(_row_of_dataset).order_by(_rows.position)


def _row_upsert(insert: Any) -> Any:
    statement = insert(opik_rows)
    return statement.on_conflict_do_update(
        index_elements=[_rows.dataset_id, _rows.id],
        set_={"document": statement.excluded.document},
    )


_upsert_rows = by_dialect(_row_upsert)

_UPDATED = "last_updated_at"
_ids = bindparam("ids", type_=SafeText, expanding=True)
_items, _spans, _scores = opik_items.c, opik_spans.c, opik_scores.c
_put = {
    one.name: BulkInsert(one, existing="replace")
    for one in (opik_items, opik_traces, opik_spans, opik_scores)
}
_stored = {
    one.name: select(one.c.id, one.c.document).where(one.c.id.in_(_ids))
    for one in (opik_traces, opik_spans)
}
_spans_of = select(_spans.trace_id, _spans.document).where(_spans.trace_id.in_(_ids))
_scores_of = (
    select(opik_scores).where(_scores.trace_id.in_(_ids)).order_by(_scores.trace_id, _scores.name)
)
_PAGE = 500
_trace_page = (
    select(opik_traces.c.id, opik_traces.c.document)
    .where(opik_traces.c.id > bindparam("last", type_=SafeText))
    .order_by(opik_traces.c.id)
    .limit(_PAGE)
)
_used_traces = select(_items.trace_id).where(_items.trace_id.in_(_ids))
_rows_of_traces = select(_items.experiment_id, _items.item_id).where(_items.trace_id.in_(_ids))
_of_experiment = (
    select(opik_items)
    .where(_items.experiment_id == bindparam("of_experiment", type_=SafeText))
    .order_by(_items.item_id, _items.id)
)
_of_rows = _of_experiment.where(_items.item_id.in_(_ids))


class SqlOpikRecords:
    """Keeps what was sent. Every write may be repeated, and nothing has to be there before it.

    Of two documents with one id, the one that was updated later wins, field by field; fields that
    it leaves out stay.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def project_id(self, workspace: str, name: str) -> str:
        """The id of a project, which any name is one of."""
        identity = str(uuid.uuid5(_NAMESPACE, f"{workspace}\n{name}"))
        if await self.project_name(identity) is None:
            row = (identity, workspace, name)
            await self._database.write(lambda connection: _add_project(connection, [row]))
        return identity

    async def project_name(self, project_id: str) -> str | None:
        """The name that an id was given for."""
        row = await self._database.one_row(_project, {"of_id": project_id})
        return None if row is None else row.name

    async def add_dataset(self, dataset: OpikDataset) -> OpikDataset:
        """The dataset of that name in its workspace, which is this one where there was none."""
        row = row_of(
            opik_datasets,
            dataset,
            snapshot=None,
            created_at=self._database.stamp(),
            document=dict(dataset.document),
        )
        named = {"of_workspace": dataset.workspace, "of_name": dataset.name}

        async def work(connection: AsyncConnection) -> AnyRow:
            await connection.execute(_add_datasets[connection.dialect.name], row)
            found = (await connection.execute(_dataset_by_name, named)).one_or_none()
            if found is None:  # Its id is taken by a dataset of another name.
                found = (await connection.execute(_dataset_by_id, {"of_id": dataset.id})).one()
            return found

        return value_of(OpikDataset, await self._database.write(work))

    async def find_dataset(self, workspace: str, name: str) -> OpikDataset | None:
        """By name."""
        bound = {"of_workspace": workspace, "of_name": name}
        row = await self._database.one_row(_dataset_by_name, bound)
        return None if row is None else value_of(OpikDataset, row)

    async def get_dataset(self, dataset_id: str) -> OpikDataset:
        """UsageError with code `not_found` when there is none."""
        row = await self._database.one_row(_dataset_by_id, {"of_id": dataset_id})
        if row is None:
            raise _no_dataset(dataset_id)
        return value_of(OpikDataset, row)

    async def put_rows(self, dataset_id: str, rows: Sequence[OpikRow]) -> None:
        """Upserts by id, new ones behind those that are there; the snapshot is forgotten."""
        of_id = {"of_id": dataset_id}

        async def work(connection: AsyncConnection) -> None:
            if await connection.scalar(_forget_snapshot, of_id) is None:
                raise _no_dataset(dataset_id)
            first = int(await connection.scalar(_next_position, of_id) or 0)
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
                await connection.execute(_upsert_rows[connection.dialect.name], list(chunk))

        await self._database.write(work)

    async def count_rows(self, dataset_id: str) -> int:
        """How many there are."""
        bound = {"of_id": dataset_id}
        found = await self._database.read(lambda connection: connection.scalar(_row_count, bound))
        return int(found or 0)

    async def rows(
        self, dataset_id: str, *, limit: int, offset: int = 0, after: str | None = None
    ) -> list[OpikRow]:
        """Rows as they came in; `after` is the id of the last one seen."""

        async def work(connection: AsyncConnection) -> list[OpikRow]:
            wanted = _all_rows.limit(max(limit, 0)).offset(max(offset, 0))
            if after is not None:
                seen = await connection.scalar(_position, {"of_id": dataset_id, "row": after})
                wanted = wanted.where(_rows.position > (-1 if seen is None else seen))
            found = await connection.execute(wanted, {"of_id": dataset_id})
            return [value_of(OpikRow, row) for row in found]

        return await self._database.read(work)

    async def note_snapshot(self, dataset_id: str, snapshot: str, *, rows: int) -> None:
        """Remember our dataset of the rows, unless there are others by now."""
        bound = {"of_id": dataset_id, "new": snapshot}

        async def work(connection: AsyncConnection) -> None:
            if await connection.scalar(_row_count, bound) == rows:
                await connection.execute(_set_snapshot, bound)

        await self._database.write(work)

    async def put_traces(self, documents: Sequence[Document]) -> None:
        """Keep traces."""
        await self._database.write(
            lambda connection: _put_documents(connection, opik_traces, documents)
        )

    async def put_spans(self, documents: Sequence[Document]) -> None:
        """Each names its `trace_id`."""
        await self._database.write(
            lambda connection: _put_documents(connection, opik_spans, documents)
        )

    async def put_scores(self, scores: Sequence[OpikScore]) -> None:
        """Keep scores, by trace and name."""
        rows = {(one.trace_id, one.name): dict(one.document) for one in scores}
        flat = [(*key, document) for key, document in rows.items()]
        await self._database.write(lambda connection: _put_chunks(connection, opik_scores, flat))

    async def put_items(self, items: Sequence[OpikItem]) -> None:
        """Keep experiment items, by id."""
        rows = {one.id: (one.id, one.experiment_id, one.item_id, one.trace_id) for one in items}
        flat = list(rows.values())
        await self._database.write(lambda connection: _put_chunks(connection, opik_items, flat))

    async def experiments_of(self, trace_ids: Sequence[str]) -> dict[str, set[str]]:
        """The row ids by experiment that some traces are runs of."""
        rows = await self._database.read(
            lambda connection: rows_of_many(connection, _rows_of_traces, "ids", trace_ids)
        )
        found: defaultdict[str, set[str]] = defaultdict(set)
        for row in rows:
            found[row.experiment_id].add(row.item_id)
        return dict(found)

    async def traces(self) -> AsyncIterator[dict[str, Any]]:
        """All traces with spans and scores as an export has them, but for runs of experiments."""
        last = ""
        while True:
            bound = {"last": last}
            page = await self._database.all_rows(_trace_page, bound)
            for one in await self._database.read(partial(_whole_traces, rows=page)):
                yield one
            if len(page) < _PAGE:
                return
            last = page[-1].id

    async def runs(
        self, experiment_id: str, item_ids: Sequence[str] | None = None
    ) -> list[OpikRun]:
        """The runs of an experiment, of some rows or of all, by row and by their own id."""
        return await self._database.read(
            lambda connection: _find_runs(connection, experiment_id, item_ids)
        )


def _no_dataset(dataset_id: str) -> UsageError:
    return UsageError(
        what=f"there is no dataset {dataset_id!r}",
        why="no Opik client has made one here",
        fix="create it first",
        code="not_found",
    )


async def _put_documents(
    connection: AsyncConnection, table: Table, documents: Sequence[Document]
) -> None:
    """Traces or spans, each merged with what is known of it."""
    for chunk in chunks(documents):
        ids = list({str(one["id"]) for one in chunk})
        rows = await connection.execute(_stored[table.name], {"ids": ids})
        known: dict[str, Document] = {row.id: row.document for row in rows}
        for one in chunk:
            identity = str(one["id"])
            known[identity] = _merged(known.get(identity), one)
        await _put[table.name](
            connection,
            [
                (identity, document)
                if table is opik_traces
                else (identity, str(document.get("trace_id") or ""), document)
                for identity, document in known.items()
            ],
        )


def _merged(old: Document | None, new: Document) -> Document:
    """The later of two over the earlier, field by field; what it leaves out stays."""
    given = {name: value for name, value in new.items() if value is not None}
    if old is None:
        return given
    if str(new.get(_UPDATED) or "~") < str(old.get(_UPDATED) or ""):
        return {**given, **old}
    return {**old, **given}


async def _put_chunks(connection: AsyncConnection, table: Table, rows: Sequence[BulkRow]) -> None:
    for chunk in chunks(rows):
        await _put[table.name](connection, chunk)


async def _whole_traces(
    connection: AsyncConnection, rows: Sequence[AnyRow]
) -> list[dict[str, Any]]:
    ids = [row.id for row in rows]
    used = {row.trace_id for row in await rows_of_many(connection, _used_traces, "ids", ids)}
    spans: defaultdict[str, list[Document]] = defaultdict(list)
    scores: defaultdict[str, list[Document]] = defaultdict(list)
    for row in await rows_of_many(connection, _spans_of, "ids", ids):
        spans[row.trace_id].append(row.document)
    for row in await rows_of_many(connection, _scores_of, "ids", ids):
        scores[row.trace_id].append({**row.document, "name": row.name})
    return [
        {
            "trace": {**row.document, "id": row.id, "feedback_scores": scores[row.id]},
            "spans": spans[row.id],
        }
        for row in rows
        if row.id not in used
    ]


async def _find_runs(
    connection: AsyncConnection, experiment_id: str, item_ids: Sequence[str] | None
) -> list[OpikRun]:
    """Runs with all that is known of them."""
    rows: Sequence[AnyRow]
    if item_ids is None:
        bound = {"of_experiment": experiment_id}
        rows = (await connection.execute(_of_experiment, bound)).all()
    else:
        rows = await rows_of_many(
            connection, _of_rows, "ids", sorted(item_ids), of_experiment=experiment_id
        )
    items = [value_of(OpikItem, row) for row in rows]
    ids = {one.trace_id for one in items}
    traces: dict[str, Document] = {}
    spans: defaultdict[str, list[Document]] = defaultdict(list)
    scores: defaultdict[str, list[OpikScore]] = defaultdict(list)
    for row in await rows_of_many(connection, _stored[opik_traces.name], "ids", ids):
        traces[row.id] = row.document
    for row in await rows_of_many(connection, _spans_of, "ids", ids):
        spans[row.trace_id].append(row.document)
    for row in await rows_of_many(connection, _scores_of, "ids", ids):
        scores[row.trace_id].append(value_of(OpikScore, row))
    return [
        OpikRun(
            item=one,
            trace=traces.get(one.trace_id),
            spans=spans.get(one.trace_id, ()),
            scores=scores.get(one.trace_id, ()),
        )
        for one in items
    ]
