"""The bound on calls: never more, always full, the oldest run first."""

import asyncio

import pytest

from burnish.images.stage_context import CallBound, together
from burnish.testing.clocks import FakeClock


async def make_calls(bound, clock, orders, log=None, seconds=1.0):
    async def call(order):
        async with bound.slot(order):
            if log is not None:
                log.append(order)
            assert bound.in_flight <= bound.limit
            await clock.sleep(seconds)

    await asyncio.gather(*(call(order) for order in orders))


async def test_no_more_calls_go_on_than_the_bound_and_it_is_always_full():
    bound, clock = CallBound(3), FakeClock()

    await make_calls(bound, clock, [(str(n),) for n in range(9)])

    assert clock.monotonic() == 3.0
    assert bound.in_flight == 0


async def test_the_oldest_run_comes_first_and_its_calls_in_their_order():
    bound, clock, log = CallBound(1), FakeClock(), []

    await make_calls(bound, clock, [("9",), ("5",), ("1",), ("5",), ("3",)], log)

    assert log == [("9",), ("1",), ("3",), ("5",), ("5",)]


async def test_a_waiter_that_is_cancelled_takes_no_place():
    bound = CallBound(1)
    gate = asyncio.Event()

    async def hold():
        async with bound.slot():
            await gate.wait()

    holder = asyncio.create_task(hold())
    await asyncio.sleep(0)
    waiters = [asyncio.create_task(hold()) for _ in range(3)]
    await asyncio.sleep(0)
    waiters[0].cancel()
    gate.set()
    await asyncio.sleep(0)
    assert holder.done()
    # The place was handed to this one, which is cancelled before it could begin.
    waiters[1].cancel()
    await asyncio.gather(*waiters, return_exceptions=True)

    assert bound.in_flight == 0
    assert [task.cancelled() for task in waiters] == [True, True, False]


async def test_a_call_that_fails_gives_its_place_back():
    bound = CallBound(1)
    for _ in range(3):
        try:
            async with bound.slot():
                raise ValueError
        except ValueError:
            pass

    assert bound.in_flight == 0


async def test_a_stage_has_at_most_four_calls_under_way_and_the_first_failure_ends_it():
    under_way, most, done = 0, 0, []

    async def work(number):
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        try:
            await asyncio.sleep(0)
            if number == 7:
                raise ValueError(number)
            done.append(number)
        finally:
            under_way -= 1

    await together(work(number) for number in range(6))
    assert (most, len(done)) == (4, 6)
    with pytest.raises(ValueError, match="7"):
        await together(work(number) for number in (7, 8, 9, 10, 11, 12))
    assert under_way == 0
    assert 12 not in done
