"""The items of a suite, each with the split that a run would give it."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from burnish.app.builders import build_suite
from burnish.app.datasets.stored import with_stored_rows
from burnish.app.datasets.suites import KnownSuite
from burnish.app.model_pool import ModelShelf
from burnish.app.wiring import Workspace
from burnish.config.schema import Settings
from burnish.config.served_project import ServedProject
from burnish.domain import Item
from burnish.domain.dataset_pages import DatasetRow

UNSPLIT = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteItems:
    """Some items by their place in the dataset; `total` is of all that were asked for."""

    rows: Sequence[DatasetRow]
    total: int
    splits: Mapping[str, int]


async def read_items(
    workspace: Workspace,
    project: ServedProject,
    suite: KnownSuite,
    *,
    text: str | None = None,
    split: str | None = None,
    after: int = -1,
    limit: int = 50,
) -> SuiteItems:
    """Items past a place, with a text in them and of a split where these are given."""
    own = await asyncio.to_thread(project.settings)
    settings = own.model_copy(update={"suite": suite.table}).placed_in(own.folder)
    settings = await with_stored_rows(workspace, settings)
    async with ModelShelf(own.models) as shelf:
        every, splits = await asyncio.to_thread(_items, settings, shelf)
    counts = Counter(splits.get(one.id, UNSPLIT) for one in every)
    chosen = await asyncio.to_thread(_chosen, every, splits, text, split)
    shown = [one for one in chosen if one.position > after][:limit]
    return SuiteItems(rows=shown, total=len(chosen), splits=counts)


def _items(settings: Settings, shelf: ModelShelf) -> tuple[list[Item], Mapping[str, str]]:
    suite = build_suite(settings.suite_spec(), shelf.model)
    return list(suite.dataset.items()), suite.splits()


def _chosen(
    items: Sequence[Item], splits: Mapping[str, str], text: str | None, split: str | None
) -> list[DatasetRow]:
    wanted = text.lower() if text else ""
    found = []
    for position, one in enumerate(items):
        own = splits.get(one.id)
        if split is not None and (own or UNSPLIT) != split:
            continue
        if wanted and not _holds(one, wanted):
            continue
        found.append(DatasetRow(position=position, item=Item(id=one.id, data=one.data, split=own)))
    return found


def _holds(item: Item, wanted: str) -> bool:
    if wanted in item.id.lower():
        return True
    return wanted in json.dumps(dict(item.data), ensure_ascii=False).lower()
