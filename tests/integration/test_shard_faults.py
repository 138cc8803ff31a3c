"""Workers killed, servers lost, evaluations longer than their lease: the result stays the same."""

import asyncio
import dataclasses
import signal
import time

import pytest
from optimization_world import Climber, World, fingerprint, run
from redis.asyncio import Redis
from shard_world import QUICK, ShardWorld, run_sharded, wait_until

import burnish
from burnish.runtime.shards import ShardSize

SMALL = {"budget": burnish.Budget(max_trials=3)}


class BaselineOnly(Climber):
    """Tries nothing: the baseline on 20 items and on the 12 held-out ones is all there is."""

    name = "baseline_only"

    def should_stop(self, state, history):
        return burnish.StopDecision(should_stop=True, message="enough")


ONCE = {"optimizer": BaselineOnly()}


@pytest.fixture
def world(valkey, tmp_path):
    world = ShardWorld(tmp_path, valkey.url, item_seconds=0.03)
    yield world
    world.end()


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("local"))
    return fingerprint(asyncio.run(run(world, **SMALL))), len(world.calls())


async def _in_the_middle(world, calls=30):
    await asyncio.to_thread(wait_until, lambda: len(world.calls()) >= calls)


async def test_a_killed_workers_shards_are_done_by_another(world, expected):
    killed = world.start_worker(visibility=1.0, concurrency=2)
    world.start_worker(visibility=1.0, concurrency=2)
    running = asyncio.create_task(run_sharded(world, **SMALL))
    await _in_the_middle(world)

    await asyncio.to_thread(world.end_worker, killed, signal.SIGKILL)

    result, calls = expected
    assert fingerprint(await running) == result
    # Only what the killed one had under way was paid for twice: a shard, and on a busy machine one
    # of the other's, if its lease ran out as well. What had ended before was not.
    assert calls <= len(world.calls()) <= calls + 2 * QUICK.size.largest


async def test_a_restart_of_the_server_costs_time_only(world, valkey, expected):
    world.start_worker()
    world.start_worker()
    running = asyncio.create_task(run_sharded(world, **SMALL))
    await _in_the_middle(world)

    await asyncio.to_thread(valkey.kill)
    await asyncio.sleep(0.2)
    await asyncio.to_thread(valkey.start)

    assert fingerprint(await asyncio.wait_for(running, 20)) == expected[0]
    # A server that is away for long lets leases run out: then a shard may be begun twice.
    assert len(world.calls()) <= expected[1] + 4 * QUICK.size.largest


async def test_a_flushed_server_loses_nothing_but_time(world, valkey, expected):
    world.start_worker()
    world.start_worker()
    running = asyncio.create_task(run_sharded(world, **SMALL))
    client = Redis.from_url(valkey.url)
    for calls in (10, 50):
        await _in_the_middle(world, calls)
        await client.flushall()
    await client.aclose()

    assert fingerprint(await asyncio.wait_for(running, 20)) == expected[0]


async def test_an_evaluation_longer_than_its_lease_is_renewed_and_not_doubled(world):
    world.item_seconds = 2.5
    world.start_worker(visibility=1.5, concurrency=20)
    world.start_worker(visibility=1.5, concurrency=20)

    settings = dataclasses.replace(QUICK, size=ShardSize(smallest=20, largest=20))
    result = await run_sharded(world, settings=settings, **ONCE)

    assert result.baseline.score is not None
    assert len(world.calls()) == len(set(world.calls())) == 20 + 12


async def test_a_worker_that_is_told_to_stop_gives_back_what_it_cannot_finish(world):
    world.item_seconds = 1.0
    leaving = world.start_worker(visibility=20.0, concurrency=20)
    running = asyncio.create_task(run_sharded(world, **ONCE))
    await _in_the_middle(world, calls=3)
    world.item_seconds = 0.01
    world.start_worker(visibility=20.0, concurrency=20)
    began = time.monotonic()

    assert await asyncio.to_thread(world.end_worker, leaving, signal.SIGTERM) == 0
    result = await asyncio.wait_for(running, 10)

    # Given back at once: nobody waited for the lease of 20 seconds to run out.
    assert time.monotonic() - began < 5
    assert result.baseline.score is not None
    assert len(set(world.calls())) == 20 + 12


async def test_lost_replies_are_found_in_the_database(world, valkey, expected):
    """Every reply is deleted before the run can read it."""
    world.start_worker()
    client = Redis.from_url(valkey.url)

    async def steal():
        while True:
            for key in await client.keys("*shard-replies*"):
                await client.delete(key)
            await asyncio.sleep(0.001)

    thief = asyncio.create_task(steal())
    try:
        result = await asyncio.wait_for(run_sharded(world, **ONCE), 20)
    finally:
        thief.cancel()
        await client.aclose()

    assert result.baseline.score is not None
    assert len(world.calls()) == len(set(world.calls())) == 20 + 12
