"""Work that gathers while some is being done."""

from __future__ import annotations

import asyncio

import pytest

from burnish.storage.experiments.call_cache import CallBatcher


class Work:
    """Ends a batch when told to."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.go = asyncio.Event()
        self.failure: Exception | None = None

    async def __call__(self, asked: dict[str, int]) -> dict[str, int]:
        self.batches.append(list(asked))
        await self.go.wait()
        if self.failure is not None:
            raise self.failure
        return {key: value * 2 for key, value in asked.items()}


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_what_is_asked_for_meanwhile_is_done_together_in_small_batches() -> None:
    work = Work()
    gathering = CallBatcher(work)
    first = asyncio.create_task(gathering.ask("first", 1))
    await settle()
    rest = [asyncio.create_task(gathering.ask(f"k{n}", n)) for n in range(40)]
    await settle()

    work.go.set()

    assert (await first)["first"] == 2
    assert [(await one)[f"k{n}"] for n, one in enumerate(rest)] == [2 * n for n in range(40)]
    assert [len(batch) for batch in work.batches] == [1, 16, 16, 8]


async def test_a_long_queue_is_done_in_large_batches() -> None:
    work = Work()
    gathering = CallBatcher(work)
    rest = [asyncio.create_task(gathering.ask(f"k{n}", n)) for n in range(16 * 40)]
    await settle()

    work.go.set()
    await asyncio.gather(*rest)

    assert len(work.batches[0]) == 160
    assert sum(map(len, work.batches)) == 16 * 40


async def test_a_failure_is_raised_by_all_of_its_batch_and_by_none_other() -> None:
    work = Work()
    gathering = CallBatcher(work)
    work.failure = ValueError("disk")
    work.go.set()

    found = await asyncio.gather(*(gathering.ask(k, 1) for k in "ab"), return_exceptions=True)
    work.failure = None

    assert [str(one) for one in found] == ["disk", "disk"]
    assert await gathering.ask("c", 3) == {"c": 6}


async def test_somebody_who_goes_away_takes_nothing_with_them() -> None:
    work = Work()
    gathering = CallBatcher(work)
    gone = asyncio.create_task(gathering.ask("a", 1))
    stays = asyncio.create_task(gathering.ask("b", 2))
    await settle()

    gone.cancel()
    await settle()
    work.go.set()

    assert await stays == {"a": 2, "b": 4}
    with pytest.raises(asyncio.CancelledError):
        await gone
