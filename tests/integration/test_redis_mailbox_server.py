"""What mailboxes ask of a Redis server, leave on it, and say when it refuses."""

import asyncio
import subprocess
import sys

import pytest
import redis
from redis.asyncio import Redis

from burnish.domain import UnavailableError, UsageError
from burnish.runtime import RedisMailbox
from burnish.testing.samples.mailboxes import Note, bodies, known_types, open_redis_box, receive_one

STREAM = "burnish:mailbox:{work}:messages"


async def test_a_batch_is_received_in_one_round_trip_and_settled_in_one(redis_client, box):
    await asyncio.gather(*(box.send(Note(number)) for number in range(100)))
    await (await receive_one(box)).acknowledge()  # Every script is known now.
    await redis_client.config_resetstat()

    messages = await box.receive(max_messages=99)
    await asyncio.gather(*(one.acknowledge() for one in messages))

    stats = await redis_client.info("commandstats")
    assert len(messages) == 99
    assert stats["cmdstat_evalsha"]["calls"] == 2
    assert "cmdstat_eval" not in stats


async def test_a_batch_of_large_messages_is_a_short_batch(redis_client):
    box = open_redis_box(redis_client, types=known_types(max_bytes=1_100_000))
    for number in range(34):
        await box.send(Note(number, "x" * 1_000_000))

    sizes = [len(await box.receive(max_messages=1_000)) for _ in range(3)]

    assert sizes == [32, 2, 0]


async def test_a_client_with_a_short_timeout_can_wait(valkey, redis_client, monkeypatch):
    async with Redis.from_url(valkey.url, socket_timeout=0.5) as hasty:
        execute, silences = hasty.execute_command, []

        async def listen(*words, **options):
            if words[0] == "XREAD":
                silences.append(words[words.index("BLOCK") + 1])
            return await execute(*words, **options)

        monkeypatch.setattr(hasty, "execute_command", listen)
        box = open_redis_box(hasty)
        waiting = asyncio.ensure_future(box.receive(wait_time_seconds=600))
        while len(silences) < 4:
            await asyncio.sleep(0.01)
        # The server is silent for half of the client's time at most: none is taken for a failure.
        assert max(silences) <= 250

        await box.send(Note(1))

        assert [one.body for one in await asyncio.wait_for(waiting, 600)] == [Note(1)]


async def test_a_server_that_forgot_its_scripts_is_taught_again(redis_client, box):
    await box.send(Note(1))
    await redis_client.script_flush()

    (got,) = await box.receive()
    await redis_client.script_flush()
    await got.acknowledge()

    assert await box.approximate_count() == 0


async def test_nothing_is_kept_for_ever(redis_client, box):
    await box.send(Note(1), reply_to="replies")
    await (await receive_one(box)).reply(Note(2))
    await redis_client.xadd(STREAM, {"rubbish": "1"})
    await box.receive()
    await open_redis_box(redis_client, "waiting").receive(wait_time_seconds=0.01)

    keys = await redis_client.keys("*")

    assert len(keys) > 8
    assert min([await redis_client.ttl(key) for key in keys]) > 0


async def test_a_handle_that_is_closed_leaves_the_list_of_consumers(redis_client, box):
    holder = open_redis_box(redis_client)
    for number in range(2):
        await box.send(Note(number))
    (await receive_one(box)) and await receive_one(holder)
    idle = open_redis_box(redis_client)
    assert await idle.receive() == []

    await idle.close()
    await holder.close()

    consumers = await redis_client.xinfo_consumers(STREAM, "holders")
    assert [one["pending"] for one in consumers] == [1, 1]


async def test_a_server_out_of_memory_says_so(redis_client, box):
    await redis_client.config_set("maxmemory", 1)
    try:
        with pytest.raises(UnavailableError, match="out of memory") as caught:
            await box.send(Note(1))
    finally:
        await redis_client.config_set("maxmemory", 0)

    assert caught.value.code == "mailbox_full"
    await box.send(Note(2))
    assert await bodies(box) == [Note(2)]


async def test_keys_that_hold_something_else_are_an_error(redis_client, box):
    await redis_client.set(STREAM, "mine")

    for call in (lambda: box.send(Note(1)), box.receive, box.approximate_count):
        with pytest.raises(UnavailableError, match="WRONGTYPE") as caught:
            await call()
        assert caught.value.code == "mailbox_refused"
    assert await redis_client.get(STREAM) == b"mine"


async def test_a_login_that_is_refused_is_an_error_at_once(valkey):
    address = valkey.url.replace("redis://", "redis://somebody:secret-word@")
    async with Redis.from_url(address) as stranger:
        with pytest.raises(UsageError, match="login") as caught:
            await open_redis_box(stranger).send(Note(1))

    assert caught.value.code == "mailbox_refused"
    assert "secret-word" not in str(caught.value)


def test_a_blocking_client_is_refused(valkey):
    with (
        redis.Redis.from_url(valkey.url) as blocking,
        pytest.raises(UsageError, match=r"redis\.asyncio\.Redis"),
    ):
        RedisMailbox("work", blocking)


def test_without_the_extra_the_error_names_it():
    script = """
import sys
sys.modules["redis"] = None
import burnish.runtime
from burnish.domain import UsageError
try:
    burnish.runtime.RedisMailbox
except UsageError as error:
    print(error.fix)
"""
    said = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )

    assert said.stdout == "pip install 'burnish[redis]'\n"
