"""The loop of shards, on a mailbox in memory and an evaluator that does nothing."""

import asyncio

from burnish.runtime import InMemoryMailbox
from burnish.runtime.loops import RetryRules
from burnish.runtime.shards.loop import ShardLoop
from burnish.runtime.shards.messages import ShardRequest, reply_to
from burnish.testing.clocks import FakeClock
from burnish.testing.samples.mailboxes import Note, known_types

REQUEST = ShardRequest(
    shard_id="s",
    optimization_id="o",
    experiment_id="e",
    overrides_tag="mask",
    configuration_hash="h",
    pairs=(("1", 0),),
    lease_owner="w",
    lease_token=1,
)


class Evaluator:
    def __init__(self):
        self.room = asyncio.Event()
        self.room.set()
        self.seen = []

    async def evaluate(self, request, *, stopping, deliveries):
        self.seen.append(request)
        return reply_to(request, "done", "w")


async def test_a_message_that_is_no_shard_does_not_end_the_loop():
    clock, types = FakeClock(), known_types()
    types.declare(ShardRequest, "shard")
    box = InMemoryMailbox("shards", clock=clock, types=types)
    loop = ShardLoop(
        evaluator=Evaluator(), requests=box, clock=clock, rules=RetryRules(step_seconds=60)
    )
    await box.send(Note(1))
    await box.send(REQUEST)

    running = asyncio.create_task(loop.run(wait_time_seconds=1))
    async with asyncio.timeout(600):
        while not (running.done() or loop.status()["done"]):
            await asyncio.sleep(0)
        await loop.shutdown()
        await running

    assert loop.status()["failed"] >= 1
