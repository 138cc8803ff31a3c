"""Mailboxes on Redis among dead workers, wrong clocks and other people's data."""

import asyncio
import os
import signal
import subprocess
import sys
import time

import pytest
import redis
from redis.asyncio import Redis

from burnish.domain import UnavailableError, UsageError
from burnish.runtime import RedisMailbox
from burnish.testing.child_processes import children, line
from burnish.testing.mailbox_samples import (
    Note,
    RedisWorld,
    bodies,
    dead,
    known_types,
    receive_one,
)
from burnish.testing.valkey import running_valkey

STREAM = "burnish:mailbox:{work}:messages"
DUE = "burnish:mailbox:{work}:due"

HOLDER = """
import asyncio, sys
from redis.asyncio import Redis
from burnish.runtime import RedisMailbox
from burnish.testing.mailbox_samples import known_types

async def main():
    client = Redis.from_url(sys.argv[1])
    box = RedisMailbox("work", client, types=known_types())
    held = await box.receive(max_messages=3, visibility_timeout=1)
    print(*(one.body.number for one in held), flush=True)
    while True:  # It would hold them for ever.
        for one in held:
            await one.extend_visibility(1)
        await asyncio.sleep(0.2)

asyncio.run(main())
"""


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
    return RedisMailbox(name, client, types=known_types(), **settings)


async def test_messages_of_a_worker_that_was_killed_go_to_another(server, box):
    for number in range(4):
        await box.send(Note(number))

    with children(HOLDER, [(server.url,)]) as (worker,):
        assert await asyncio.to_thread(line, worker) == "0 1 2"
        assert await bodies(box, visibility_timeout=60) == [Note(3)]
        await asyncio.sleep(1.5)
        assert await box.receive() == []  # It lives, and holds on.
        os.kill(worker.pid, signal.SIGKILL)
        start = time.monotonic()
        got = [await receive_one(box, wait_time_seconds=10) for _ in range(3)]

    assert sorted((one.body.number, one.delivery_count) for one in got) == [(0, 2), (1, 2), (2, 2)]
    assert time.monotonic() - start < 5


@pytest.mark.parametrize("hours", [-1, 1])
async def test_a_worker_whose_clock_is_wrong_makes_no_difference(client, box, monkeypatch, hours):
    await box.send(Note(1))
    with monkeypatch.context() as wrong:
        real, shift = time.time, hours * 3600
        wrong.setattr(time, "time", lambda: real() + shift)
        wrong.setattr(time, "time_ns", lambda: int((real() + shift) * 1e9))
        worker = open_box(client)
        held = await receive_one(worker, visibility_timeout=30)
        await held.extend_visibility(30)
        await box.send(Note(2))
        await (await receive_one(worker)).nack(visibility_timeout=30)

    assert await box.receive() == []
    world = RedisWorld(client, None)
    await world.pass_time(29)
    assert await box.receive() == []
    await world.pass_time(2)
    assert await bodies(box) == [Note(1), Note(2)]


@pytest.mark.parametrize("decode", [False, True])
@pytest.mark.parametrize(
    "fields",
    [
        {"message": b"\xff\xfe not text"},
        {"message": b"note 1 \n{\xff}"},
        {"message": b"note one \n{}"},
        {"message": b"note 1 a b c\n{}"},
        {"message": b""},
        {"message": b"note " + b"9" * 5_000 + b" \n{}"},
        {"message": b"note 1 bad/name\n" + b'{"number": "x"}'},
        {"other": "fields", "of": "others"},
    ],
)
async def test_what_others_put_into_the_stream_blocks_nobody(server, client, fields, decode):
    await client.xadd(STREAM, fields)
    async with Redis.from_url(server.url, decode_responses=decode) as reader:
        box = open_box(reader)
        await box.send(Note(2, "ü"))

        assert await bodies(box) == [Note(2, "ü")]

        (letter,) = await dead(box)
        assert letter.reason == "undecodable"
        assert letter.explanation
        await box.close()


async def test_messages_that_were_trimmed_away_are_forgotten(client, box):
    for number in range(3):
        await box.send(Note(number))
    held = await box.receive(max_messages=2, visibility_timeout=30)
    await client.xdel(STREAM, held[0].id)

    await RedisWorld(client, None).pass_time(31)

    assert await bodies(box) == [Note(1), Note(2)]
    assert await client.zcard(DUE) == (await client.xpending(STREAM, "holders"))["pending"] == 2
    start = time.monotonic()
    assert await box.receive(wait_time_seconds=0.2) == []
    assert time.monotonic() - start > 0.15


async def test_held_messages_come_back_even_if_their_due_times_were_lost(client, box):
    for number in range(3):
        await box.send(Note(number))
    await box.receive(max_messages=3)

    await client.delete(DUE)

    got = await box.receive(max_messages=3, wait_time_seconds=5)
    assert [(one.body.number, one.delivery_count) for one in got] == [(0, 2), (1, 2), (2, 2)]


async def test_a_short_hold_by_somebody_else_is_noticed_while_waiting(client, box):
    await box.send(Note(1))
    await receive_one(box)
    start = time.monotonic()
    waiting = asyncio.ensure_future(open_box(client).receive(wait_time_seconds=30))
    await asyncio.sleep(0.05)

    await RedisWorld(client, None).pass_time(31)
    await receive_one(box, visibility_timeout=0.2)

    assert [one.delivery_count for one in await waiting] == [3]
    assert time.monotonic() - start < 0.95


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
