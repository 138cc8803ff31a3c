"""Workers killed, servers lost, evaluations longer than their lease: the result stays the same."""

import asyncio
import dataclasses
import functools
import signal
import time

import pytest
from optimization_world import Climber, World, agent_of, fingerprint, run
from redis.asyncio import Redis
from shard_world import QUICK, ShardWorld, run_sharded, wait_until

import burnish
from burnish.runtime.shards.suite import ShardSize

SMALL = {"budget": burnish.Budget(max_trials=3)}


class BaselineOnly(Climber):
    """Tries nothing: the baseline on 20 items and on the 12 held-out ones is all there is."""

    name = "baseline_only"

    def should_stop(self, state, history):
        return burnish.StopDecision(should_stop=True, message="enough")


ONCE = {"optimizer": BaselineOnly()}
# What should happen soon has this long: far more than a busy machine needs.
SOON = 600


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
    killed = world.start_worker(concurrency=2)
    world.start_worker(concurrency=2)
    running = asyncio.create_task(run_sharded(world, **SMALL))
    await _in_the_middle(world)

    await asyncio.to_thread(world.end_worker, killed, signal.SIGKILL)
    held = world.held_by(killed)
    world.let_leases_run_out(killed)

    result, calls = expected
    assert fingerprint(await asyncio.wait_for(running, SOON)) == result
    # Only what the killed one had under way was paid for twice. What had ended before was not.
    assert calls <= len(world.calls()) <= calls + len(held) * QUICK.size.largest


async def test_a_restart_of_the_server_costs_time_only(world, valkey, expected):
    world.start_worker()
    world.start_worker()
    running = asyncio.create_task(run_sharded(world, **SMALL))
    await _in_the_middle(world)

    await asyncio.to_thread(valkey.kill)
    await asyncio.sleep(0.2)
    await asyncio.to_thread(valkey.start)

    assert fingerprint(await asyncio.wait_for(running, SOON)) == expected[0]
    assert len(world.calls()) == expected[1]


async def test_a_flushed_server_loses_nothing_but_time(world, valkey, expected):
    world.start_worker()
    world.start_worker()
    running = asyncio.create_task(run_sharded(world, **SMALL))
    client = Redis.from_url(valkey.url)
    for calls in (10, 50):
        await _in_the_middle(world, calls)
        await client.flushall()
    await client.aclose()

    assert fingerprint(await asyncio.wait_for(running, SOON)) == expected[0]


async def test_an_evaluation_longer_than_its_lease_is_renewed_and_not_doubled(world):
    gate = world.folder / "go on"
    agent = _agent_before(gate, world)
    lease = 3.0
    workers = [world.start_worker(visibility=lease, concurrency=20, agent=agent) for _ in range(2)]
    settings = dataclasses.replace(QUICK, size=ShardSize(smallest=20, largest=20))
    running = asyncio.create_task(run_sharded(world, settings=settings, **ONCE))

    await _in_the_middle(world, calls=20)
    first = time.monotonic()
    # Longer than the lease that it was taken with: by now it is held by a renewed one.
    await asyncio.to_thread(wait_until, lambda: time.monotonic() > first + 1.2 * lease)
    assert max(world.seconds_left(worker) for worker in workers) > 0
    gate.touch()
    result = await asyncio.wait_for(running, SOON)

    assert result.baseline.score is not None
    assert len(world.calls()) == len(set(world.calls())) == 20 + 12


async def test_a_worker_that_is_told_to_stop_gives_back_what_it_cannot_finish(world):
    world.item_seconds = 3600
    leaving = world.start_worker(concurrency=20)
    begin_second = world.worker_for_later(
        concurrency=20, before=lambda: setattr(world, "item_seconds", 0.01)
    )
    running = asyncio.create_task(run_sharded(world, **ONCE))
    await _in_the_middle(world, calls=3)
    assert world.held_by(leaving)

    assert await asyncio.to_thread(world.end_worker, leaving, signal.SIGTERM) == 0
    # Given back at once: nobody waits for the rest of the lease of 15 seconds.
    assert world.seconds_left(leaving) == 0
    begin_second()
    result = await asyncio.wait_for(running, SOON)

    assert result.baseline.score is not None
    assert len(set(world.calls())) == 20 + 12


def _agent_before(gate, world):
    """The world's agent, whose answers wait for a file."""
    agent = agent_of(world)

    @functools.wraps(agent.run)  # By its name it is the same agent.
    async def run(configuration, item):
        answer = await agent.run(configuration, item)
        while not gate.exists():
            await asyncio.sleep(0.05)
        return answer

    return dataclasses.replace(agent, run=run)


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
        result = await asyncio.wait_for(run_sharded(world, **ONCE), SOON)
    finally:
        thief.cancel()
        await client.aclose()

    assert result.baseline.score is not None
    assert len(world.calls()) == len(set(world.calls())) == 20 + 12
