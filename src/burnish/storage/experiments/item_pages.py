"""Item results as pages, each with the row of the dataset that it ran on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, bindparam, select

from burnish.domain import Outcome
from burnish.domain.optimizations.pages import ItemFilter, ItemLine
from burnish.domain.pages import Page
from burnish.storage.engine.codec import SafeText
from burnish.storage.engine.connections import AsyncConnection
from burnish.storage.engine.database import AnyRow
from burnish.storage.engine.listing import sorted_page
from burnish.storage.experiments import rounds
from burnish.storage.experiments.results import read_results
from burnish.storage.experiments.tables import (
    dataset_items,
    experiment_items,
    experiments,
    feedback_scores,
)

_items, _scores, _rows = experiment_items.c, feedback_scores.c, dataset_items.c
_of_experiment = bindparam("experiment", type_=SafeText)
_of_items = bindparam("items", type_=SafeText, expanding=True)
_scores_of = (
    select(feedback_scores)
    .where(_scores.experiment_id == _of_experiment, _scores.item_id.in_(_of_items))
    .order_by(_scores.item_id, _scores.repeat, _scores.position)
)
_dataset_of = select(experiments.c.dataset_id).where(experiments.c.id == _of_experiment)
_rows_of = select(_rows.item_id, _rows.data, _rows.split).where(
    _rows.dataset_id == bindparam("dataset", type_=SafeText), _rows.item_id.in_(_of_items)
)


def statement(
    experiment_id: str, wanted: ItemFilter, *, limit: int, after: Sequence[Any] | None
) -> Select[Any]:
    """What reads a page of items."""
    chosen = select(experiment_items).where(_items.experiment_id == experiment_id)
    if wanted.failing:
        chosen = chosen.where(_items.passed.is_(False))
    if wanted.refined:
        chosen = chosen.where(_items.outcome != Outcome.NOT_REFINED.value)
    if wanted.outcome is not None:
        chosen = chosen.where(_items.outcome == wanted.outcome.value)
    if wanted.ended is not None:
        chosen = chosen.where(_items.ended == wanted.ended.value)
    return sorted_page(
        chosen, [_items.item_id, _items.repeat], down=False, limit=limit, after=after
    )


async def page(
    connection: AsyncConnection, experiment_id: str, wanted: Select[Any], limit: int
) -> Page[ItemLine]:
    """The items of a page."""
    found = (await connection.execute(wanted)).all()
    if not found:
        return Page(items=())
    shown = found[:limit]
    bound = {"experiment": experiment_id, "items": list({row.item_id for row in shown})}
    results = read_results(shown, await connection.execute(_scores_of, bound))
    rows = await _dataset_rows(connection, bound)
    refined = [one.item_id for one in results if one.refinement is not None]
    by_run = await rounds.on_page(connection, experiment_id, refined) if refined else {}
    lines = [
        ItemLine(
            result=result,
            data=None if (row := rows.get(result.item_id)) is None else row.data,
            split=None if row is None else row.split,
            rounds=by_run.get((result.item_id, result.repeat), ()),
        )
        for result in results
    ]
    last = shown[-1]
    more = len(found) > limit
    return Page(items=lines, next=(last.item_id, last.repeat) if more else None)


async def _dataset_rows(connection: AsyncConnection, bound: dict[str, Any]) -> dict[str, AnyRow]:
    dataset = await connection.scalar(_dataset_of, bound)
    if dataset is None:
        return {}
    rows = await connection.execute(_rows_of, {**bound, "dataset": dataset})
    return {row.item_id: row for row in rows}
