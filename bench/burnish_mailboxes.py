"""Messages a second through mailboxes, and through raw lists of the same server. Prints JSON."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import redis
from redis.asyncio import Redis
from tests.servers.valkey import running_valkey

from burnish.runtime import InMemoryMailbox, Mailbox, MessageTypes, RedisMailbox


@dataclass(frozen=True, slots=True)
class Shard:
    """As large as a message that names 32 items."""

    experiment: str
    items: tuple[str, ...]


BODY = Shard("experiment-0001", tuple(f"item-{number:06d}" for number in range(32)))
TYPES = MessageTypes()
TYPES.declare(Shard, "shard")
PAYLOAD = TYPES.encode(BODY).payload


async def redis_mailbox(client: Redis, batches: int, batch: int) -> None:
    box: Mailbox[Shard, None] = RedisMailbox("bench", client, types=TYPES)
    for _ in range(batches):
        await asyncio.gather(*(box.send(BODY) for _ in range(batch)))
        messages = await box.receive(max_messages=batch)
        assert len(messages) == batch
        await asyncio.gather(*(message.acknowledge() for message in messages))
    await box.close()


async def lists(client: Redis, batches: int, batch: int, *, settle: bool) -> None:
    for _ in range(batches):
        pipeline = client.pipeline(transaction=False)
        for _ in range(batch):
            pipeline.lpush("queue", PAYLOAD)
        await pipeline.execute()
        for _ in range(batch):
            pipeline.rpoplpush("queue", "held")
        messages = await pipeline.execute()
        assert len(messages) == batch
        for message in messages if settle else ():
            pipeline.lrem("held", 1, message)
        await (pipeline.execute() if settle else client.delete("held"))


def blocking_lists(client: redis.Redis, batches: int, batch: int, *, settle: bool) -> None:
    for _ in range(batches):
        pipeline = client.pipeline(transaction=False)
        for _ in range(batch):
            pipeline.lpush("queue", PAYLOAD)
        pipeline.execute()
        for _ in range(batch):
            pipeline.rpoplpush("queue", "held")
        messages = pipeline.execute()
        assert len(messages) == batch
        for message in messages if settle else ():
            pipeline.lrem("held", 1, message)
        pipeline.execute() if settle else client.delete("held")


async def memory_mailbox(count: int) -> None:
    box: Mailbox[Shard, None] = InMemoryMailbox("bench", types=TYPES)
    for _ in range(count):
        await box.send(BODY)
        (message,) = await box.receive()
        await message.acknowledge()


async def timed(work: Callable[[], Any], count: int) -> dict[str, float]:
    """Messages a second, and microseconds of this process's own time a message."""
    start, spent = time.perf_counter(), time.process_time()
    done = work()
    if isinstance(done, Awaitable):
        await done
    seconds, own = time.perf_counter() - start, time.process_time() - spent
    return {"rate": count / seconds, "own": 1e6 * own / count}


async def on_redis(rounds: int, batches: int, batch: int) -> dict[str, list[dict[str, float]]]:
    measured: dict[str, list[dict[str, float]]] = {}
    with running_valkey() as server, redis.Redis.from_url(server.url) as blocking:
        async with Redis.from_url(server.url) as client:
            contestants: dict[str, Callable[[int], Any]] = {
                "mailbox": lambda n: redis_mailbox(client, n, batch),
                "lists": lambda n: lists(client, n, batch, settle=False),
                "lists, settled": lambda n: lists(client, n, batch, settle=True),
                "blocking lists": lambda n: blocking_lists(blocking, n, batch, settle=False),
                "blocking lists, settled": lambda n: blocking_lists(
                    blocking, n, batch, settle=True
                ),
            }
            for work in contestants.values():
                await timed(lambda work=work: work(3), 1)
            # In turn and in short turns: whatever else the machine does meets all of them.
            for _ in range(rounds):
                for name, work in contestants.items():
                    one = await timed(lambda work=work: work(batches), batches * batch)
                    measured.setdefault(name, []).append(one)
    return measured


async def main() -> None:
    rounds, batch = int(sys.argv[1]), int(sys.argv[2])
    measured = await on_redis(rounds, 6, batch)
    await memory_mailbox(500)
    measured["memory"] = [await timed(lambda: memory_mailbox(2_000), 2_000) for _ in range(rounds)]
    print(json.dumps({"bytes": len(PAYLOAD), "measured": measured}))


asyncio.run(main())
