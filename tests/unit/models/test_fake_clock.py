import asyncio
import time


async def test_a_long_sleep_takes_no_real_time(clock):
    began = time.monotonic()

    await clock.sleep(3600)

    assert clock.monotonic() == 3600
    assert time.monotonic() - began < 600


async def test_many_sleepers_wake_by_due_time_and_then_by_order(clock):
    woken = []

    async def sleeper(name, seconds):
        await clock.sleep(seconds)
        woken.append((name, clock.monotonic()))

    await asyncio.gather(
        sleeper("late", 3), sleeper("early", 1), sleeper("first twin", 2), sleeper("second twin", 2)
    )

    assert woken == [("early", 1), ("first twin", 2), ("second twin", 2), ("late", 3)]


async def test_time_stands_still_while_a_task_can_run(clock):
    seen = []

    async def busy():
        for _ in range(200):
            await asyncio.sleep(0)
        seen.append(clock.monotonic())

    await asyncio.gather(clock.sleep(10), busy())

    assert seen == [0]


async def test_a_cancelled_sleeper_does_not_move_time(clock):
    long = asyncio.create_task(clock.sleep(1000))
    await asyncio.sleep(0)
    long.cancel()

    await clock.sleep(1)

    assert clock.monotonic() == 1
    assert long.cancelled()


async def test_the_date_follows_the_virtual_seconds(clock):
    before = clock.now()

    await clock.sleep(90)

    assert (clock.now() - before).total_seconds() == 90
