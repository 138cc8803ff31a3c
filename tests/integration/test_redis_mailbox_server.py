"""What mailboxes ask of a Redis server, leave on it, and say when it refuses."""

import asyncio
import subprocess
import sys

import pytest
import redis
from redis.asyncio import Redis

from burnish.domain import UnavailableError, UsageError
from burnish.runtime import RedisMailbox
from burnish.testing.mailbox_samples import Note, bodies, known_types, receive_one
from burnish.testing.valkey import running_valkey

STREAM = "burnish:mailbox:{work}:messages"


@pytest.fixture(scope="module")
def server():
    with running_valkey() as running:
        yield running


@pytest.fixture
async def client(server):
    async with Redis.from_url(server.url) as client:
        await client.flushall()
        yield client


@pytest.fixture
def box(client):
    return open_box(client)


def open_box(client, name="work", **settings):
    return RedisMailbox(name, client, **{"types": known_types(), **settings})


async def test_a_batch_is_received_in_one_round_trip_and_settled_in_one(client, box):
    await asyncio.gather(*(box.send(Note(number)) for number in range(100)))
    await (await receive_one(box)).acknowledge()  # Every script is known now.
    await client.config_resetstat()

    messages = await box.receive(max_messages=99)
    await asyncio.gather(*(one.acknowledge() for one in messages))

    stats = await client.info("commandstats")
    assert len(messages) == 99
    assert stats["cmdstat_evalsha"]["calls"] == 2
    assert "cmdstat_eval" not in stats


async def test_a_batch_of_large_messages_is_a_short_batch(client):
    box = open_box(client, types=known_types(max_bytes=1_100_000))
    for number in range(34):
        await box.send(Note(number, "x" * 1_000_000))

    sizes = [len(await box.receive(max_messages=1_000)) for _ in range(3)]

    assert sizes == [32, 2, 0]


async def test_a_client_with_a_short_timeout_can_wait(server, client):
    async def connections():
        return (await client.info("stats"))["total_connections_received"]

    before = await connections()
    async with Redis.from_url(server.url, socket_timeout=0.2) as hasty:
        box = open_box(hasty)
        assert await box.receive(wait_time_seconds=1) == []
        assert await connections() - before <= 2  # No silence was taken for a failure.
        waiting = asyncio.ensure_future(box.receive(wait_time_seconds=10))
        await asyncio.sleep(0.3)

        await box.send(Note(1))

        assert [one.body for one in await asyncio.wait_for(waiting, 2)] == [Note(1)]


async def test_a_server_that_forgot_its_scripts_is_taught_again(client, box):
    await box.send(Note(1))
    await client.script_flush()

    (got,) = await box.receive()
    await client.script_flush()
    await got.acknowledge()

    assert await box.approximate_count() == 0


async def test_nothing_is_kept_for_ever(client, box):
    await box.send(Note(1), reply_to="replies")
    await (await receive_one(box)).reply(Note(2))
    await client.xadd(STREAM, {"rubbish": "1"})
    await box.receive()
    await open_box(client, "waiting").receive(wait_time_seconds=0.01)

    keys = await client.keys("*")

    assert len(keys) > 8
    assert min([await client.ttl(key) for key in keys]) > 0


async def test_a_handle_that_is_closed_leaves_the_list_of_consumers(client, box):
    holder = open_box(client)
    for number in range(2):
        await box.send(Note(number))
    (await receive_one(box)) and await receive_one(holder)
    idle = open_box(client)
    assert await idle.receive() == []

    await idle.close()
    await holder.close()

    consumers = await client.xinfo_consumers(STREAM, "holders")
    assert [one["pending"] for one in consumers] == [1, 1]


async def test_a_server_out_of_memory_says_so(client, box):
    await client.config_set("maxmemory", 1)
    try:
        with pytest.raises(UnavailableError, match="out of memory") as caught:
            await box.send(Note(1))
    finally:
        await client.config_set("maxmemory", 0)

    assert caught.value.code == "mailbox_full"
    await box.send(Note(2))
    assert await bodies(box) == [Note(2)]


async def test_keys_that_hold_something_else_are_an_error(client, box):
    await client.set(STREAM, "mine")

    for call in (lambda: box.send(Note(1)), box.receive, box.approximate_count):
        with pytest.raises(UnavailableError, match="WRONGTYPE") as caught:
            await call()
        assert caught.value.code == "mailbox_refused"
    assert await client.get(STREAM) == b"mine"


async def test_a_login_that_is_refused_is_an_error_at_once(server):
    address = server.url.replace("redis://", "redis://somebody:secret-word@")
    async with Redis.from_url(address) as stranger:
        with pytest.raises(UsageError, match="login") as caught:
            await open_box(stranger).send(Note(1))

    assert caught.value.code == "mailbox_refused"
    assert "secret-word" not in str(caught.value)


def test_a_blocking_client_is_refused(server):
    with (
        redis.Redis.from_url(server.url) as blocking,
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
