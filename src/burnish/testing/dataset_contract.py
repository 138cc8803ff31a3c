"""Contract for dataset repositories and call caches. Provide `datasets` and `cache`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from burnish.domain import (
    CallCache,
    DatasetRepository,
    Item,
    UsageError,
)
from burnish.testing.samples.experiments import (
    AWKWARD_JSON,
    AWKWARD_TEXTS,
)


class DatasetRepositoryContract:
    """Provide `datasets`."""

    async def test_rows_come_back_as_they_were_and_in_order(
        self, datasets: DatasetRepository
    ) -> None:
        items = [
            Item(id=f"{text[:50]}{n}", data={"text": text, "n": n}, split=split)
            for n, (text, split) in enumerate(
                (text, split)
                for text in AWKWARD_TEXTS
                if "\ud800" not in text
                for split in (None, "train", "test")
            )
        ]
        items.append(Item(id="no surrogates", data={"n": [1, 1.0, 2**70], "": {"a": [None]}}))
        items += [Item(id=f"more {n}", data={"n": -n}) for n in range(1200)]

        record = await datasets.ensure_dataset("reviews \x00", "fingerprint", iter(items))

        assert record.items == len(items)
        assert record.name == "reviews \x00"
        assert record.created_at.endswith("Z")
        stored = [item async for item in datasets.stream_items(record.id)]
        assert stored == items
        assert [item.hash for item in stored] == [item.hash for item in items]
        assert await datasets.get_dataset(record.id) == record

    async def test_known_content_is_not_read_again(self, datasets: DatasetRepository) -> None:
        def unreadable() -> Iterator[Item]:
            raise AssertionError("read")
            yield

        first = await datasets.ensure_dataset("d", "f", [Item(id="1", data={})])

        assert await datasets.ensure_dataset("d", "f", unreadable()) == first

    async def test_other_content_or_another_name_is_another_record(
        self, datasets: DatasetRepository
    ) -> None:
        records = [
            await datasets.ensure_dataset(name, fingerprint, [Item(id=name, data={})])
            for name, fingerprint in (("d", "f"), ("d", "g"), ("e", "f"))
        ]

        assert len({record.id for record in records}) == 3
        for record in records:
            stored = [item.id async for item in datasets.stream_items(record.id)]
            assert stored == [record.name]

    async def test_rows_that_break_off_leave_nothing(self, datasets: DatasetRepository) -> None:
        def broken() -> Iterator[Item]:
            yield from (Item(id=str(n), data={}) for n in range(1300))
            raise FileNotFoundError("the file went away")

        with pytest.raises(FileNotFoundError, match="went away"):
            await datasets.ensure_dataset("d", "f", broken())

        record = await datasets.ensure_dataset("d", "f", [Item(id="whole", data={})])
        assert [item.id async for item in datasets.stream_items(record.id)] == ["whole"]

    async def test_many_who_bring_the_same_content_get_one_record(
        self, datasets: DatasetRepository
    ) -> None:
        items = [Item(id=str(n), data={"n": n}) for n in range(50)]

        records = await asyncio.gather(
            *(datasets.ensure_dataset("d", "f", iter(items)) for _ in range(8))
        )

        assert len({record.id for record in records}) == 1
        assert {record.items for record in records} == {50}
        assert [item async for item in datasets.stream_items(records[0].id)] == items

    async def test_an_unknown_dataset_is_not_found(self, datasets: DatasetRepository) -> None:
        with pytest.raises(UsageError) as caught:
            await datasets.get_dataset("none\x00")
        assert caught.value.code == "not_found"
        with pytest.raises(UsageError):
            await anext(aiter(datasets.stream_items("none")))


class CallCacheContract:
    """Provide `cache`."""

    async def test_a_value_comes_back_as_it_was(self, cache: CallCache) -> None:
        await cache.put("k", AWKWARD_JSON)

        assert await cache.get("k") == AWKWARD_JSON
        assert await cache.get("other") is None

    async def test_the_last_value_stays(self, cache: CallCache) -> None:
        await cache.put("k\x00", {"n": 1})
        await cache.put("k\x00", {"n": 2})

        assert await cache.get("k\x00") == {"n": 2}

    async def test_many_at_once_are_all_kept(self, cache: CallCache) -> None:
        await asyncio.gather(*(cache.put(f"k{n}", {"n": n}) for n in range(300)))

        found = await asyncio.gather(*(cache.get(f"k{n}") for n in range(300)))
        assert found == [{"n": n} for n in range(300)]
