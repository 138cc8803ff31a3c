from __future__ import annotations

import asyncio

import pytest

from burnish.support.deadlines import deadline, waiting


async def test_time_stands_still_for_whoever_waits():
    async with deadline(60) as outer, deadline(30) as inner:
        left = inner.when() - asyncio.get_running_loop().time()
        with waiting():
            assert (outer.when(), inner.when()) == (None, None)

        assert outer.when() > inner.when()
        assert inner.when() - asyncio.get_running_loop().time() <= left


async def test_the_last_of_several_who_wait_sets_it_going():
    async def wait(go: asyncio.Event) -> None:
        with waiting():
            await go.wait()

    async with deadline(60) as timeout, asyncio.TaskGroup() as group:
        gates = asyncio.Event(), asyncio.Event()
        first, second = (group.create_task(wait(gate)) for gate in gates)
        while timeout.when() is not None:
            await asyncio.sleep(0)
        gates[0].set()
        await first
        assert timeout.when() is None
        gates[1].set()
        await second
        assert timeout.when() is not None


async def test_it_ends_work_that_does_not_wait():
    with pytest.raises(TimeoutError):
        async with deadline(0.001) as timeout:
            with waiting():
                pass
            await asyncio.Event().wait()

    assert timeout.expired()


async def test_none_is_no_deadline_and_a_task_may_outlive_its_deadline():
    go = asyncio.Event()

    async def late() -> str:
        await go.wait()
        with waiting():
            return "done"

    async with deadline(None) as never, deadline(60):
        assert never.when() is None
        task = asyncio.create_task(late())
        await asyncio.sleep(0)
    go.set()

    assert await task == "done"


def test_deadlines_of_another_loop_are_left_alone():
    async def there() -> None:
        with waiting():
            pass

    async def here() -> float | None:
        async with deadline(60) as timeout:
            before = timeout.when()
            await asyncio.to_thread(asyncio.run, there())
            assert timeout.when() == before
        return before

    assert asyncio.run(here())
