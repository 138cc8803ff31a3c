"""Mailboxes against a model of one, on both backends."""

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test
from redis.asyncio import Redis
from tests.contract.mailbox_machine import MailboxMachine

from burnish.domain import SystemClock
from burnish.testing.samples.mailboxes import MemoryWorld, RedisWorld

LONG = {"deadline": None, "suppress_health_check": list(HealthCheck), "derandomize": True}


class MemoryMachine(MailboxMachine):
    async def make_world(self):
        return MemoryWorld()


def test_a_mailbox_in_this_process_agrees_with_the_model():
    run_state_machine_as_test(
        MemoryMachine, settings=settings(max_examples=60, stateful_step_count=40, **LONG)
    )


def test_a_mailbox_on_redis_agrees_with_the_model(valkey):
    class RedisMachine(MailboxMachine):
        async def make_world(self):
            client = Redis.from_url(valkey.url)
            await client.flushall()
            return RedisWorld(client, SystemClock())

        async def end_world(self):
            await self.world.client.aclose()

    run_state_machine_as_test(
        RedisMachine, settings=settings(max_examples=40, stateful_step_count=40, **LONG)
    )
