"""Mailboxes on Redis among dead workers, wrong clocks and other people's data."""

import asyncio
import os
import signal
import time

import pytest
from redis.asyncio import Redis
from tests.support.child_processes import children, line, tell

from burnish.domain import ConflictError
from burnish.runtime.mailboxes.redis import stream as redis_stream
from burnish.runtime.mailboxes.redis.link import RedisLink
from burnish.runtime.mailboxes.redis.stream import RedisStream
from burnish.testing.samples.mailboxes import (
    Note,
    RedisWorld,
    bodies,
    dead,
    known_types,
    open_redis_box,
    receive_one,
)

STREAM = "burnish:mailbox:{work}:messages"
DUE = "burnish:mailbox:{work}:due"

HOLDER = """
import asyncio, sys
from redis.asyncio import Redis
from burnish.runtime import RedisMailbox
from burnish.testing.samples.mailboxes import known_types

async def main():
    client = Redis.from_url(sys.argv[1])
    box = RedisMailbox("work", client, types=known_types())
    held = await box.receive(max_messages=3, visibility_timeout=60)
    print(*(one.body.number for one in held), flush=True)
    while await asyncio.to_thread(sys.stdin.readline):  # It would hold them for ever.
        for one in held:
            await one.extend_visibility(60)
        print("extended", flush=True)

asyncio.run(main())
"""


async def test_messages_of_a_worker_that_was_killed_go_to_another(valkey, redis_client, box):
    world = RedisWorld(redis_client, None)
    for number in range(4):
        await box.send(Note(number))

    with children(HOLDER, [(valkey.url,)]) as (worker,):
        assert await asyncio.to_thread(line, worker) == "0 1 2"
        assert await bodies(box, visibility_timeout=3600) == [Note(3)]
        for _ in range(2):
            await world.pass_time(40)
            tell(worker, "go on")
            assert await asyncio.to_thread(line, worker) == "extended"
        assert await box.receive() == []  # It lives, and holds on.
        os.kill(worker.pid, signal.SIGKILL)
        await world.pass_time(61)
        got = [await receive_one(box) for _ in range(3)]

    assert sorted((one.body.number, one.delivery_count) for one in got) == [(0, 2), (1, 2), (2, 2)]


@pytest.mark.parametrize("hours", [-1, 1])
async def test_a_worker_whose_clock_is_wrong_makes_no_difference(
    redis_client, box, monkeypatch, hours
):
    await box.send(Note(1))
    with monkeypatch.context() as wrong:
        real, shift = time.time, hours * 3600
        wrong.setattr(time, "time", lambda: real() + shift)
        wrong.setattr(time, "time_ns", lambda: int((real() + shift) * 1e9))
        worker = open_redis_box(redis_client)
        held = await receive_one(worker, visibility_timeout=30)
        await held.extend_visibility(30)
        await box.send(Note(2))
        await (await receive_one(worker)).nack(visibility_timeout=30)

    assert await box.receive() == []
    world = RedisWorld(redis_client, None)
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
async def test_what_others_put_into_the_stream_blocks_nobody(valkey, redis_client, fields, decode):
    await redis_client.xadd(STREAM, fields)
    async with Redis.from_url(valkey.url, decode_responses=decode) as reader:
        box = open_redis_box(reader)
        await box.send(Note(2, "ü"))

        assert await bodies(box) == [Note(2, "ü")]

        (letter,) = await dead(box)
        assert letter.reason == "undecodable"
        assert letter.explanation
        await box.close()


async def test_messages_that_were_trimmed_away_are_forgotten(redis_client, box):
    for number in range(3):
        await box.send(Note(number))
    held = await box.receive(max_messages=2, visibility_timeout=30)
    await redis_client.xdel(STREAM, held[0].id)

    await RedisWorld(redis_client, None).pass_time(31)

    assert await bodies(box) == [Note(1), Note(2)]
    assert (
        await redis_client.zcard(DUE)
        == (await redis_client.xpending(STREAM, "holders"))["pending"]
        == 2
    )
    start = time.monotonic()
    assert await box.receive(wait_time_seconds=0.2) == []
    assert time.monotonic() - start > 0.15


async def test_held_messages_come_back_even_if_their_due_times_were_lost(redis_client, box):
    for number in range(3):
        await box.send(Note(number))
    await box.receive(max_messages=3)

    await redis_client.delete(DUE)

    got = await box.receive(max_messages=3, wait_time_seconds=60)
    assert [(one.body.number, one.delivery_count) for one in got] == [(0, 2), (1, 2), (2, 2)]


async def test_a_bad_message_is_buried_once_by_whoever_has_it(redis_client, box):
    await redis_client.xadd(STREAM, {"message": "bad"})
    streams = [
        RedisStream("work", RedisLink(redis_client, patience=5), max_size=10) for _ in range(2)
    ]
    taken = [
        (await stream.take(1, 0)).messages[0].receipt for stream in streams
    ]  # The second had it after the time of the first ran out.
    letter = known_types().encode(Note(1))

    await streams[0].bury([(taken[0], letter)])
    assert await box.dead_letters.approximate_count() == 0
    for _ in range(2):
        await streams[1].bury([(taken[1], letter)])

    assert await box.dead_letters.approximate_count() == 1
    assert await box.approximate_count() == 0


async def test_a_message_whose_stream_was_deleted_is_nobody_s(redis_client, box):
    await box.send(Note(1))
    held = await receive_one(box)

    await redis_client.delete(STREAM)

    with pytest.raises(ConflictError, match="not yours any more"):
        await held.nack()
    await box.send(Note(2))
    assert await bodies(box) == [Note(2)]


async def test_a_short_hold_by_somebody_else_is_noticed_while_waiting(
    redis_client, box, monkeypatch
):
    # Who waits looks again each second by itself; here only the short hold may wake them.
    monkeypatch.setattr(redis_stream, "SLICE_MS", 3_600_000)
    await box.send(Note(1))
    await receive_one(box, visibility_timeout=3600)
    other = open_redis_box(redis_client)
    waiting = asyncio.ensure_future(other.receive(wait_time_seconds=3600))
    await _until_waiting(redis_client)

    await RedisWorld(redis_client, None).pass_time(3601)
    await receive_one(box, visibility_timeout=0.2)

    assert [one.delivery_count for one in await asyncio.wait_for(waiting, 600)] == [3]


async def _until_waiting(client):
    """Until somebody sleeps on the server."""
    async with asyncio.timeout(600):
        while not (await client.info("clients"))["blocked_clients"]:
            await asyncio.sleep(0.005)
