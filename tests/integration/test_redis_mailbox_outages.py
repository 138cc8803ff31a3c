"""Mailboxes while their server is killed, restarted, flushed, frozen or cut off."""

import asyncio
import shutil
from collections import Counter
from contextlib import contextmanager, suppress

import pytest
from redis.asyncio import Redis
from redis_proxy import running_proxy
from tests.servers.valkey import start_valkey

from burnish.domain import ConflictError, UnavailableError
from burnish.testing.samples.mailboxes import Note, bodies, open_redis_box, receive_one

# What should happen soon has this long: far more than a busy machine needs.
SOON = 600


@pytest.fixture
def server(tmp_path):
    running = start_valkey(tmp_path / "valkey")
    yield running
    running.stop()


@pytest.fixture
async def client(server):
    async with Redis.from_url(server.url) as client:
        yield client


async def test_a_server_that_is_killed_and_restarted_loses_and_doubles_nothing(server, client):
    sent, done = 400, Counter()

    async def produce(start):
        box = open_redis_box(client)
        for number in range(start, start + 100):
            await box.send(Note(number))
            await asyncio.sleep(0.002)

    async def consume():
        box = open_redis_box(client)
        while len(done) < sent:
            for one in await box.receive(max_messages=8, visibility_timeout=2, wait_time_seconds=1):
                await asyncio.sleep(0.001)
                with suppress(ConflictError):  # On a slow machine its time may run out.
                    await one.acknowledge()
                    done[one.body.number] += 1

    async def break_down():
        for _ in range(3):
            await asyncio.sleep(0.15)
            await asyncio.to_thread(server.kill)
            await asyncio.sleep(0.1)
            await asyncio.to_thread(server.start)

    await asyncio.wait_for(
        asyncio.gather(
            break_down(),
            *(produce(100 * number) for number in range(4)),
            *(consume() for _ in range(4)),
        ),
        2 * SOON,
    )

    assert done == Counter(range(sent))
    assert await open_redis_box(client).approximate_count() == 0


async def test_holders_keep_their_messages_over_a_restart(server, client):
    box = open_redis_box(client)
    await box.send(Note(1))
    held = await receive_one(box)

    await asyncio.to_thread(server.kill)
    await asyncio.to_thread(server.start)

    assert await open_redis_box(client).receive() == []
    await held.extend_visibility(30)
    await held.acknowledge()
    assert await box.approximate_count() == 0


async def test_a_receiver_waits_through_a_restart(server, client):
    waiting = asyncio.ensure_future(open_redis_box(client).receive(wait_time_seconds=60))
    await asyncio.sleep(0.1)

    await asyncio.to_thread(server.kill)
    await asyncio.sleep(0.2)
    await asyncio.to_thread(server.start)
    await open_redis_box(client).send(Note(1))

    assert [one.body for one in await asyncio.wait_for(waiting, SOON)] == [Note(1)]


@pytest.mark.parametrize("loss", ["flushed", "restarted empty"])
async def test_mailboxes_work_on_after_their_server_lost_everything(server, client, loss):
    box, other = open_redis_box(client), open_redis_box(client)
    await box.send(Note(1))
    held = await receive_one(box)
    waiting = asyncio.ensure_future(other.receive(wait_time_seconds=60))
    await asyncio.sleep(0.1)

    if loss == "flushed":
        await client.flushall()
    else:
        await asyncio.to_thread(server.kill)
        shutil.rmtree(server.folder / "appendonlydir")
        await asyncio.to_thread(server.start)
    with pytest.raises(ConflictError, match="not yours any more"):
        await held.acknowledge()
    assert await box.approximate_count() == 0
    await box.send(Note(2))

    (got,) = await asyncio.wait_for(waiting, SOON)
    assert (got.body, got.delivery_count) == (Note(2), 1)
    await got.acknowledge()
    assert await box.receive() == []


@contextmanager
def hasty(box):
    """Within the block the mailbox gives up soon: what works outside of it has time."""
    patience, box._link._patience = box._link._patience, 0.1
    try:
        yield
    finally:
        box._link._patience = patience


async def test_a_server_that_is_gone_is_an_error_with_a_deadline(server, client):
    box = open_redis_box(client)
    await box.send(Note(1))
    held = await receive_one(box)
    await asyncio.to_thread(server.kill)

    for call in (
        lambda: box.send(Note(2)),
        box.receive,
        lambda: box.receive(wait_time_seconds=3600),
        held.acknowledge,
        box.approximate_count,
        box.purge,
    ):
        with pytest.raises(UnavailableError, match=f"127.0.0.1:{server.port} cannot be") as caught:
            async with asyncio.timeout(SOON):  # Not the hour that it may wait.
                with hasty(box):
                    await call()
        assert (caught.value.code, caught.value.retryable) == ("mailbox_unavailable", True)

    await asyncio.to_thread(server.start)
    await held.acknowledge()
    await box.send(Note(3))
    # What was sent into the outage was not: its caller was told.
    assert await bodies(box) == [Note(3)]


async def test_a_server_that_answers_nothing_is_an_error_with_a_deadline(server, client):
    await open_redis_box(client).send(Note(1))
    box = open_redis_box(client, patience=0.5)

    with server.frozen():
        async with asyncio.timeout(SOON):  # Not the hour that it may wait.
            with pytest.raises(UnavailableError, match="no answer in 0.5 seconds"):
                await box.receive(visibility_timeout=0.2, wait_time_seconds=3600)
            await box.close()

    again = open_redis_box(client)
    assert [one.body for one in await again.receive(wait_time_seconds=SOON)] == [Note(1)]


async def test_an_answer_that_is_lost_neither_doubles_nor_loses(server):
    async with running_proxy(server.port) as proxy, Redis.from_url(proxy.url) as client:
        box = open_redis_box(client, max_size=3)
        await box.send(Note(0))
        await (await receive_one(box)).acknowledge()

        proxy.lose_answers(2)
        await asyncio.gather(*(box.send(Note(number)) for number in range(3)))
        assert await box.approximate_count() == 3
        messages = await box.receive(max_messages=3)
        proxy.lose_answers(2)
        await asyncio.gather(*(one.acknowledge() for one in messages[:2]), messages[2].nack())

        assert proxy.lost == 4
        assert await box.approximate_count() == 1
        assert await bodies(box) == [messages[2].body]


async def test_messages_in_an_answer_that_is_lost_come_back(server):
    async with running_proxy(server.port) as proxy, Redis.from_url(proxy.url) as client:
        box = open_redis_box(client)
        await box.send(Note(1))
        await (await receive_one(box)).nack()

        proxy.lose_answers(1)
        got = await box.receive(visibility_timeout=0.3, wait_time_seconds=SOON)

        assert [(one.body, one.delivery_count) for one in got] == [(Note(1), 3)]
