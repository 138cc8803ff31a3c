"""Finds item results: by experiment in pages, by item, and by what they depend on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Integer, Select, Tuple, bindparam, func, select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

from burnish.domain import CacheScope, ItemResult
from burnish.storage.engine.bulk import chunks
from burnish.storage.engine.codec import PlainText, SafeText, encode_text
from burnish.storage.engine.database import AnyRow, Database
from burnish.storage.experiments.result_rows import CacheKeys, read_results
from burnish.storage.experiments.tables import experiment_items, feedback_scores

PAGE = 500

Found = tuple[Sequence[AnyRow], list[ItemResult]]

_items, _scores = experiment_items.c, feedback_scores.c
_of_experiment = bindparam("experiment", type_=SafeText)
_of_items = bindparam("items", type_=SafeText, expanding=True)
_items_key = tuple_(_items.item_id, _items.repeat)
_scores_key = tuple_(_scores.item_id, _scores.repeat)


def _bound_key(name: str) -> Tuple:
    return tuple_(
        bindparam(f"{name}_item", type_=SafeText), bindparam(f"{name}_repeat", type_=Integer)
    )


_all_items = (
    select(experiment_items)
    .where(_items.experiment_id == _of_experiment)
    .order_by(_items.item_id, _items.repeat)
)
_all_scores = (
    select(feedback_scores)
    .where(_scores.experiment_id == _of_experiment)
    .order_by(_scores.item_id, _scores.repeat, _scores.position)
)
_first_page = _all_items.limit(PAGE)
_next_page = _first_page.where(_items_key > _bound_key("last"))
_scores_between = _all_scores.where(
    _scores_key >= _bound_key("first"), _scores_key <= _bound_key("last")
)
_items_of = _all_items.where(_items.item_id.in_(_of_items))
_scores_of = _all_scores.where(_scores.item_id.in_(_of_items))

# The newest moment of each key, from the index alone; then the rows of those moments.
_newest = (
    select(_items.cache_key, func.max(_items.created_at).label("created_at"))
    .where(_items.cache_key.in_(bindparam("keys", type_=PlainText, expanding=True)))
    .group_by(_items.cache_key)
    .subquery()
)
_is_newest = (_items.cache_key == _newest.c.cache_key) & (_items.created_at == _newest.c.created_at)
_cached_items = select(experiment_items).join(_newest, _is_newest).order_by(_items.experiment_id)
_cached_scores = (
    select(feedback_scores)
    .join(
        experiment_items,
        (_scores.experiment_id == _items.experiment_id)
        & (_scores.item_id == _items.item_id)
        & (_scores.repeat == _items.repeat),
    )
    .join(_newest, _is_newest)
    .order_by(_scores.position)
)


async def pages(database: Database, experiment_id: str) -> AsyncIterator[list[ItemResult]]:
    """All results in order, a transaction for each page, so that a slow reader stops nobody."""
    bound: dict[str, Any] = {"experiment": experiment_id}
    statement = _first_page
    while True:
        page = await _page(database, statement, bound)
        if page:
            yield page
        if len(page) < PAGE:
            return
        statement = _next_page
        bound |= {"last_item": page[-1].item_id, "last_repeat": page[-1].repeat}


async def of_items(
    database: Database, experiment_id: str, item_ids: Sequence[str]
) -> list[ItemResult]:
    """The results of some items, in order."""
    found: list[ItemResult] = []
    for chunk in chunks(sorted(set(item_ids), key=lambda item_id: encode_text(item_id) or "")):
        bound = {"experiment": experiment_id, "items": chunk}
        _, results = await _find(database, _items_of, _scores_of, bound)
        found.extend(results)
    return found


async def cached(
    database: Database, scope: CacheScope, keys: Sequence[tuple[str, int]]
) -> dict[tuple[str, int], tuple[ItemResult, str | None]]:
    """The newest results that can be used again, with their scorers' fingerprints."""
    names = CacheKeys(scope)
    found: dict[tuple[str, int], tuple[ItemResult, str | None]] = {}
    for chunk in chunks(list(dict.fromkeys(keys))):
        bound = {"keys": [names.key(item_hash, repeat) for item_hash, repeat in chunk]}
        rows, results = await _find(database, _cached_items, _cached_scores, bound)
        for row, result in zip(rows, results, strict=True):
            found[result.item_hash, result.repeat] = (result, row.scorers_fingerprint)
    return found


async def _page(
    database: Database, statement: Select[Any], bound: Mapping[str, Any]
) -> list[ItemResult]:
    async def work(connection: AsyncConnection) -> list[ItemResult]:
        items = (await connection.execute(statement, bound)).all()
        if not items:
            return []
        ends = {
            "experiment": bound["experiment"],
            "first_item": items[0].item_id,
            "first_repeat": items[0].repeat,
            "last_item": items[-1].item_id,
            "last_repeat": items[-1].repeat,
        }
        return read_results(items, await connection.execute(_scores_between, ends))

    return await database.read(work)


async def _find(
    database: Database, items: Select[Any], scores: Select[Any], bound: Mapping[str, Any]
) -> Found:
    async def work(connection: AsyncConnection) -> Found:
        rows = (await connection.execute(items, bound)).all()
        if not rows:
            return rows, []
        return rows, read_results(rows, await connection.execute(scores, bound))

    return await database.read(work)
