"""Calls made at the same time travel together."""

import asyncio

import pytest

from burnish.runtime.mailboxes.redis.link import Coalescer


class Wire:
    def __init__(self):
        self.batches = []
        self.open = asyncio.Event()
        self.open.set()
        self.failure = None

    async def flush(self, calls):
        self.batches.append(calls)
        await self.open.wait()
        if self.failure:
            raise self.failure
        return [call * 10 for call in calls]


async def settled():
    """Until all have come to where they wait."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_calls_of_one_moment_are_one_batch_and_each_gets_its_answer():
    wire = Wire()
    calls = Coalescer(wire.flush, most=3)

    answers = await asyncio.gather(*(calls.submit(number) for number in range(5)))

    assert answers == [0, 10, 20, 30, 40]
    assert wire.batches == [[0, 1, 2], [3, 4]]


async def test_calls_made_meanwhile_wait_for_the_next_batch():
    wire = Wire()
    wire.open.clear()
    calls = Coalescer(wire.flush)
    first = asyncio.ensure_future(calls.submit(1))
    await settled()
    later = [asyncio.ensure_future(calls.submit(number)) for number in (2, 3)]
    await settled()
    assert wire.batches == [[1]]

    wire.open.set()

    assert await asyncio.gather(first, *later) == [10, 20, 30]
    assert wire.batches == [[1], [2, 3]]


async def test_a_batch_is_never_heavier_than_allowed_unless_it_is_one_call():
    wire = Wire()
    calls = Coalescer(wire.flush, heaviest=10, weigh=lambda call: call)

    await asyncio.gather(*(calls.submit(weight) for weight in (4, 5, 6, 40, 1)))

    assert wire.batches == [[4, 5], [6], [40], [1]]


async def test_a_failure_reaches_all_of_its_batch_and_no_other():
    wire = Wire()
    wire.failure = ValueError("broken")
    calls = Coalescer(wire.flush, most=2)

    answers = await asyncio.gather(*(calls.submit(n) for n in range(2)), return_exceptions=True)
    assert [type(answer) for answer in answers] == [ValueError, ValueError]
    wire.failure = None

    assert await calls.submit(3) == 30


async def test_a_call_whose_caller_gave_up_before_it_left_is_not_made():
    wire = Wire()
    wire.open.clear()
    calls = Coalescer(wire.flush)
    first = asyncio.ensure_future(calls.submit(1))
    await settled()
    given_up, kept = (asyncio.ensure_future(calls.submit(number)) for number in (2, 3))
    await settled()

    first.cancel()
    given_up.cancel()
    wire.open.set()

    assert await kept == 30
    assert wire.batches == [[1], [3]]


async def test_a_cancelled_sender_cancels_those_who_wait_for_it():
    wire = Wire()
    wire.open.clear()
    calls = Coalescer(wire.flush)
    waiting = asyncio.ensure_future(calls.submit(1))
    await settled()

    for task in asyncio.all_tasks():
        if task not in (asyncio.current_task(), waiting):
            task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await waiting
