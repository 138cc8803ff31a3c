"""Loops on a real Valkey whose workers are killed, stopped, slow, or have a wrong clock."""

import asyncio
import os
import secrets
import signal
import time

import pytest
from loop_world import (
    DEADLINE,
    LoggedAgent,
    client_of,
    eval_loop,
    request,
    running,
    until,
    until_sync,
)
from optimization_world import in_child, wait_for
from tests.servers.valkey import running_valkey, start_valkey

from burnish.runtime import GroupSettings, LoopGroup, ask_all


@pytest.fixture(scope="module")
def server():
    with running_valkey() as running_server:
        yield running_server


@pytest.fixture
def agent(tmp_path):
    return LoggedAgent(tmp_path / "calls")


@pytest.fixture
def box():
    return f"eval-{secrets.token_hex(4)}"


class Group(LoopGroup):
    """Leaves a file when it begins to drain."""

    marker = None

    def stop(self, why="asked to stop"):
        super().stop(why)
        self.marker.touch()


def worker(server, agent, box, *, grace=30.0, visibility=30.0, **settings):
    """A worker's whole life, for a process of its own."""

    async def serve():
        async with client_of(server) as client:
            group = Group(
                [eval_loop(client, agent, box=box, concurrency=4)],
                settings=GroupSettings(
                    grace_seconds=grace,
                    visibility_timeout=visibility,
                    wait_time_seconds=1,
                    **settings,
                ),
            )
            group.marker = agent.log.with_name("draining")
            await group.serve()

    asyncio.run(serve())


def asked(server, agent, box, requests, meanwhile=lambda: None, *, visibility=30.0):
    """The answers, given by a loop of this process once `meanwhile` is over."""

    async def go():
        async with client_of(server) as client:
            loop = eval_loop(client, agent, box=box, concurrency=4)
            asking = asyncio.create_task(ask_all(loop.requests, requests, timeout=DEADLINE))
            await asyncio.to_thread(meanwhile)
            async with running(loop, visibility_timeout=visibility):
                return await asking

    return asyncio.run(go())


def test_messages_of_a_killed_worker_are_done_by_another(server, agent, box):
    child = in_child(lambda: worker(server, agent, box, visibility=1.0))
    requests = [request(f"s{n}", seconds=600 if n < 4 else 0) for n in range(8)]
    quick = LoggedAgent(agent.log.with_name("quick"), quick=True)

    def kill():
        until_sync(lambda: len(agent.calls()) == 4, "taking four messages")
        os.kill(child, signal.SIGKILL)
        assert wait_for(child) == -signal.SIGKILL

    answers = asked(server, quick, box, requests, kill)

    assert [one.sample_id for one in answers] == [f"s{n}" for n in range(8)]
    assert all(one.passed for one in answers)
    assert quick.calls() == {f"s{n}": 1 for n in range(8)}


def test_a_stopped_worker_ends_what_it_can_and_gives_the_rest_back_at_once(server, agent, box):
    # Its grace is long enough for the short one on any machine: that ends when it begins to drain.
    draining = agent.log.with_name("draining")
    child = in_child(lambda: worker(server, agent, box, grace=4, visibility=600))
    requests = [request("short", until=str(draining)), request("long", seconds=600)]
    quick = LoggedAgent(agent.log, quick=True)

    def stop():
        until_sync(lambda: len(agent.calls()) == 2, "taking both")
        os.kill(child, signal.SIGTERM)
        assert wait_for(child) == 0

    answers = asked(server, quick, box, requests, stop)  # They would not wait for the 600 seconds.

    assert all(one.passed for one in answers)
    assert agent.calls() == {"short": 1, "long": 2}
    assert agent.calls("end") == {"short": 1, "long": 1}


def test_a_second_signal_ends_at_once(server, agent, box):
    child = in_child(lambda: worker(server, agent, box, grace=600, visibility=600))

    async def send():
        async with client_of(server) as client:
            await eval_loop(client, agent, box=box).requests.send(request("long", seconds=600))

    asyncio.run(send())
    until_sync(agent.calls, "taking it")
    os.kill(child, signal.SIGTERM)
    until_sync(agent.log.with_name("draining").exists, "draining")
    assert os.waitpid(child, os.WNOHANG) == (0, 0)
    os.kill(child, signal.SIGTERM)

    # By the signal and not by itself, as it would after its grace.
    assert wait_for(child) == -signal.SIGTERM


async def test_work_longer_than_the_visibility_timeout_is_renewed_and_not_doubled(
    server, agent, box
):
    async with client_of(server) as client:
        loops = [eval_loop(client, agent, box=box, name=f"eval{n}") for n in range(2)]
        # It is renewed at a third: a machine may be late by more than three seconds.
        async with running(*loops, visibility_timeout=5):
            requests = [request("a", seconds=6), request("b", seconds=5.5)]
            answers = await ask_all(loops[0].requests, requests, timeout=DEADLINE)

    assert all(one.passed for one in answers)
    assert agent.calls() == {"a": 1, "b": 1}


async def test_a_poison_request_goes_to_the_dead_letters_and_blocks_nobody(server, agent, box):
    async with client_of(server) as client:
        loop = eval_loop(client, agent, box=box, concurrency=2)
        requests = [request("bad", tag="poison"), *(request(f"s{n}") for n in range(10))]
        async with running(loop):
            answers = await ask_all(loop.requests, requests, timeout=DEADLINE)
            (letter,) = await loop.requests.dead_letters.receive(wait_time_seconds=60)

    assert "poison" in answers[0].error
    assert all(one.passed for one in answers[1:])
    assert letter.body.delivery_count == 5


def test_a_worker_whose_clock_is_an_hour_off_serves_as_any_other(server, agent, box):
    def wrong():
        right = time.time
        time.time = lambda: right() + 3600
        worker(server, agent, box, visibility=4)

    child = in_child(wrong)
    requests = [request(f"s{n}", seconds=4.5) for n in range(4)]

    async def go():
        async with client_of(server) as client:
            loop = eval_loop(client, agent, box=box)
            return await ask_all(loop.requests, requests, timeout=DEADLINE)

    answers = asyncio.run(go())
    os.kill(child, signal.SIGTERM)

    assert wait_for(child) == 0
    assert all(one.passed for one in answers)
    assert agent.calls() == {f"s{n}": 1 for n in range(4)}


async def test_a_loop_survives_a_restart_of_its_server(tmp_path, agent, box):
    server = start_valkey(tmp_path / "valkey")
    try:
        async with client_of(server) as client:
            loop = eval_loop(client, agent, box=box, patience=0.2)
            async with running(loop, visibility_timeout=30):
                (first,) = await ask_all(loop.requests, [request("before")], timeout=DEADLINE)
                await asyncio.to_thread(server.kill)
                await until(lambda: not loop.ready, "noticing that the server is away")
                beat = loop.heartbeat
                await until(lambda: loop.heartbeat > beat, "a heartbeat")
                await asyncio.to_thread(server.start)
                patient = eval_loop(client, agent, box=box).requests
                (second,) = await ask_all(patient, [request("after")], timeout=DEADLINE)
                await until(lambda: loop.ready, "being ready again")
    finally:
        server.stop()

    assert first.passed
    assert second.passed


async def test_a_result_outlives_a_restart_of_its_server(tmp_path, agent, box):
    server = start_valkey(tmp_path / "valkey")
    try:
        async with client_of(server) as client:
            loop = eval_loop(client, agent, box=box, patience=0.2)
            back = loop.requests.sibling(f"{box}-back")
            async with running(loop, visibility_timeout=DEADLINE):
                await loop.requests.send(request("slow", seconds=0.5), reply_to=back)
                await until(agent.calls, "taking it")
                await asyncio.to_thread(server.kill)
                await until(lambda: agent.calls("end"), "ending it")
                await asyncio.to_thread(server.start)
                (answer,) = await back.receive(wait_time_seconds=60)
                await until(lambda: loop.status()["done"] == 1)
    finally:
        server.stop()

    assert answer.body.passed
    assert agent.calls() == {"slow": 1}
