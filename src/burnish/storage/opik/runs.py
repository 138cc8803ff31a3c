"""Traces, spans, scores and experiment items of Opik clients: written in any order, read together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Table, bindparam, select
from sqlalchemy.ext.asyncio import AsyncConnection

from burnish.domain.opik_records import Document, OpikItem, OpikRun, OpikScore
from burnish.storage.engine.bulk import BulkInsert, chunks
from burnish.storage.engine.codec import SafeText
from burnish.storage.opik.tables import opik_items, opik_scores, opik_spans, opik_traces

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
_rows_of_traces = select(_items.experiment_id, _items.item_id).where(_items.trace_id.in_(_ids))
_of_experiment = (
    select(opik_items)
    .where(_items.experiment_id == bindparam("of_experiment", type_=SafeText))
    .order_by(_items.item_id, _items.id)
)
_of_rows = _of_experiment.where(_items.item_id.in_(_ids))


async def put_documents(
    connection: AsyncConnection, table: Table, documents: Sequence[Document]
) -> None:
    """Traces or spans, each merged with what is known of it."""
    for chunk in chunks(documents):
        ids = list({str(one["id"]) for one in chunk})
        rows = await connection.execute(_stored[table.name], {"ids": ids})
        known: dict[str, Document] = {row.id: row.document for row in rows}
        for one in chunk:
            identity = str(one["id"])
            known[identity] = merged(known.get(identity), one)
        await _put[table.name](
            connection,
            [
                (identity, document)
                if table is opik_traces
                else (identity, str(document.get("trace_id") or ""), document)
                for identity, document in known.items()
            ],
        )


def merged(old: Document | None, new: Document) -> Document:
    """The later of two over the earlier, field by field; what it leaves out stays."""
    said = {name: value for name, value in new.items() if value is not None}
    if old is None:
        return said
    if str(new.get(_UPDATED) or "~") < str(old.get(_UPDATED) or ""):
        return {**said, **old}
    return {**old, **said}


async def put_scores(connection: AsyncConnection, scores: Sequence[OpikScore]) -> None:
    """Scores by trace and name."""
    rows = {(one.trace_id, one.name): dict(one.document) for one in scores}
    for chunk in chunks([(*key, document) for key, document in rows.items()]):
        await _put[opik_scores.name](connection, chunk)


async def put_items(connection: AsyncConnection, items: Sequence[OpikItem]) -> None:
    """Experiment items by id."""
    rows = {one.id: (one.id, one.experiment_id, one.item_id, one.trace_id) for one in items}
    for chunk in chunks(list(rows.values())):
        await _put[opik_items.name](connection, chunk)


async def experiments_of(
    connection: AsyncConnection, trace_ids: Sequence[str]
) -> dict[str, set[str]]:
    """Row ids by experiment."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for chunk in chunks(list(dict.fromkeys(trace_ids))):
        for row in await connection.execute(_rows_of_traces, {"ids": list(chunk)}):
            found[row.experiment_id].add(row.item_id)
    return dict(found)


async def runs(
    connection: AsyncConnection, experiment_id: str, item_ids: Sequence[str] | None
) -> list[OpikRun]:
    """Runs with all that is known of them."""
    bound: dict[str, Any] = {"of_experiment": experiment_id}
    rows: list[Any] = []
    if item_ids is None:
        rows.extend(await connection.execute(_of_experiment, bound))
    else:
        for chunk in chunks(sorted(item_ids)):
            rows.extend(await connection.execute(_of_rows, {**bound, "ids": list(chunk)}))
    items = [OpikItem(**row._mapping) for row in rows]  # noqa: SLF001 - public, in spite of its name
    known = _Known()
    for part in chunks(list({one.trace_id for one in items})):
        await known.read(connection, list(part))
    return [known.run(one) for one in items]


class _Known:
    """What is known of some traces."""

    def __init__(self) -> None:
        self._traces: dict[str, Document] = {}
        self._spans: defaultdict[str, list[Document]] = defaultdict(list)
        self._scores: defaultdict[str, list[OpikScore]] = defaultdict(list)

    async def read(self, connection: AsyncConnection, trace_ids: list[str]) -> None:
        bound = {"ids": trace_ids}
        for row in await connection.execute(_stored[opik_traces.name], bound):
            self._traces[row.id] = row.document
        for row in await connection.execute(_spans_of, bound):
            self._spans[row.trace_id].append(row.document)
        for row in await connection.execute(_scores_of, bound):
            self._scores[row.trace_id].append(OpikScore(**row._mapping))  # noqa: SLF001

    def run(self, item: OpikItem) -> OpikRun:
        of = item.trace_id
        return OpikRun(
            item=item,
            trace=self._traces.get(of),
            spans=self._spans.get(of, ()),
            scores=self._scores.get(of, ()),
        )
