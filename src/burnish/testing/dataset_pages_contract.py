"""What readers of dataset pages hold to. Subclass and give fixtures."""

# ruff: noqa: D102 - the names of the tests say what they show

from __future__ import annotations

import asyncio

import pytest

from burnish.app.wiring import Workspace
from burnish.domain import Item, UsageError
from burnish.testing.registry_contract import everything
from burnish.testing.repository_contract import AWKWARD_JSON, make_experiment


class DatasetPagesContract:
    """Provide `workspace`."""

    async def test_datasets_come_newest_first(self, workspace: Workspace) -> None:
        for name in ("a", "b", "a"):
            stamp = f"{name}{len((await workspace.dataset_pages.datasets()).items)}"
            await workspace.datasets.ensure_dataset(name, stamp, [Item(id="1", data={"n": 1})])
        pages = workspace.dataset_pages

        found = await everything(pages.datasets)
        named = await everything(lambda **o: pages.datasets(name="a", **o))

        assert [one.name for one in found] == ["a", "b", "a"]
        assert [one.fingerprint for one in named] == ["a2", "a0"]
        assert await workspace.datasets.get_dataset(found[0].id) == found[0]

    async def test_rows_come_in_order_with_their_origin(self, workspace: Workspace) -> None:
        items = [Item(id=f"i{n} \x00", data={"n": n}, split="test") for n in range(5)]
        record = await workspace.datasets.ensure_dataset("d", "f", items)
        pages = workspace.dataset_pages

        await pages.add_origins(record.id, {"i3 \x00": {"from": AWKWARD_JSON}})
        await pages.add_origins(record.id, {"i3 \x00": {"from": "later"}})

        rows = await everything(lambda **o: pages.rows(record.id, **o))
        assert [one.item for one in rows] == items
        assert [one.origin for one in rows] == [None] * 3 + [{"from": AWKWARD_JSON}, None]
        assert await pages.origins(record.id) == {"i3 \x00": {"from": AWKWARD_JSON}}

    async def test_rows_of_nothing_are_not_found(self, workspace: Workspace) -> None:
        with pytest.raises(UsageError) as caught:
            await workspace.dataset_pages.rows("none")
        assert caught.value.code == "not_found"
