"""Datasets that are rows of the database and no file: how settings name them, and their rows."""

from __future__ import annotations

from typing import Any

from burnish.app.wiring import Workspace
from burnish.config.schema import Settings
from burnish.domain import DatasetRepository, Item
from burnish.evaluation.datasets import Dataset

_PREFIX = "stored:"


def stored_reference(dataset_id: str) -> str:
    """What stands in a suite's `dataset` for a stored one."""
    return f"{_PREFIX}{dataset_id}"


def stored_id(dataset: str) -> str | None:
    """The id of a stored dataset; None when it is a file."""
    return dataset.removeprefix(_PREFIX) if dataset.startswith(_PREFIX) else None


async def with_stored_rows(workspace: Workspace, settings: Settings) -> Settings:
    """The settings with the rows of their stored dataset; those with a file are left alone.

    It is named by its id, or by its name, which then means the newest of that name.
    """
    dataset_id = stored_id(settings.suite.dataset)
    if dataset_id is None:
        return settings
    named = (await workspace.dataset_pages.datasets(name=dataset_id, limit=1)).items
    dataset_id = named[0].id if named else dataset_id
    return settings.with_rows(await load_dataset(workspace.datasets, dataset_id))


async def load_dataset(datasets: DatasetRepository, dataset_id: str) -> Dataset:
    """A stored dataset. It has the content, the ids and so the fingerprint that it was stored with."""
    record = await datasets.get_dataset(dataset_id)
    rows = [row_of(item) async for item in datasets.stream_items(dataset_id)]
    return Dataset.of(rows, name=record.name)


def row_of(item: Item) -> dict[str, Any]:
    """The row that an item is read from."""
    own = {"id": item.id} if item.split is None else {"id": item.id, "split": item.split}
    return {**item.data, **own}
