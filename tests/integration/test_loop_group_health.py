"""A worker's health, asked over HTTP: alive, ready, draining, cut off and blocked."""

import asyncio
import contextlib
import socket
import threading
import time
import urllib.request

import pytest
from loop_world import DEADLINE, LoggedAgent, client_of, eval_loop, fetch, request, until_sync
from optimization_world import in_child, wait_for
from tests.servers.valkey import start_valkey

from burnish.domain import UnavailableError, UsageError
from burnish.runtime import GroupSettings, InMemoryMailbox, LoopGroup, MailboxLoop
from burnish.runtime.loops.health import HealthServer
from burnish.testing.samples.mailboxes import Note, known_types


class Worker:
    """A group in a thread of its own, as it would be in a process of its own."""

    def __init__(self, make_loops, probes=None, **settings):
        self.url = None
        self.probes = probes
        self._started = threading.Event()
        self._settings = {
            "health_port": 0,
            "wait_time_seconds": 1,
            "grace_seconds": DEADLINE,
            **settings,
        }
        self._thread = threading.Thread(target=self._run, args=(make_loops,), daemon=True)

    def __enter__(self):
        self._thread.start()
        assert self._started.wait(DEADLINE)
        return self

    def __exit__(self, *_error):
        self.stop()
        self._thread.join(DEADLINE)
        assert not self._thread.is_alive()

    def stop(self):
        self.loop.call_soon_threadsafe(self.group.stop)

    def ask(self, page):
        return fetch(f"{self.url}/health/{page}")

    def _run(self, make_loops):
        asyncio.run(self._serve(make_loops))

    async def _serve(self, make_loops):
        self.loop = asyncio.get_running_loop()
        async with make_loops() as loops:
            self.group = LoopGroup(
                loops,
                settings=GroupSettings(**self._settings),
                probes=self.probes,
                on_start=self._hear,
            )
            await self.group.serve()

    def _hear(self, url):
        self.url = url
        self._started.set()


def memory_loop(work, box=None):
    class Loop(MailboxLoop):
        async def handle(self, body, delivery):
            return await work(body)

    @contextlib.asynccontextmanager
    async def make():
        yield [Loop(name="notes", requests=box or InMemoryMailbox("n", types=known_types()))]

    return make


def test_a_worker_tells_how_it_is_until_it_drains(tmp_path):
    agent, gate = LoggedAgent(tmp_path / "calls"), tmp_path / "gate"
    server = start_valkey(tmp_path / "valkey")

    @contextlib.asynccontextmanager
    async def loops():
        async with client_of(server) as client:
            yield [eval_loop(client, agent, patience=0.3)]

    try:
        with Worker(loops) as worker:
            until_sync(lambda: worker.ask("ready")[0] == 200, "being ready")
            status, live = worker.ask("live")
            assert (status, live["status"]) == (200, "live")
            (loop,) = live["loops"]
            assert (loop["name"], loop["state"], loop["in_work"]) == ("eval", "running", 0)
            assert worker.ask("ready")[1]["checks"] == {"mailbox eval-requests": "ok"}

            server.kill()
            status, cut_off = worker.ask("ready")
            assert status == 503
            assert cut_off["checks"]["mailbox eval-requests"] != "ok"
            assert worker.ask("live")[0] == 200
            server.start()
            until_sync(lambda: worker.ask("ready")[0] == 200, "being ready again")

            async def send():
                async with client_of(server) as client:
                    await eval_loop(client, agent).requests.send(request("long", until=str(gate)))

            asyncio.run(send())
            until_sync(agent.calls, "taking it")
            worker.stop()
            until_sync(lambda: worker.ask("ready")[1]["status"] == "draining", "draining")
            assert worker.ask("live")[0] == 200
            gate.touch()
        assert agent.calls("end") == {"long": 1}
    finally:
        server.stop()


def test_a_database_that_is_away_or_silent_makes_a_worker_not_ready():
    answers = {"say": "away"}

    async def database():
        if answers["say"] == "away":
            raise UnavailableError(what="the database", why="is away", fix="wait")
        if answers["say"] == "nothing":
            await asyncio.sleep(600)

    async def idle(body):
        return None

    with Worker(memory_loop(idle), probes={"database": database}) as worker:
        status, body = worker.ask("ready")
        assert (status, body["checks"]["database"]) == (503, "not ok (UnavailableError)")
        answers["say"] = "nothing"
        status, body = worker.ask("ready")
        assert (status, body["checks"]["database"]) == (503, "no answer")
        answers["say"] = "yes"
        until_sync(lambda: worker.ask("ready")[0] == 200, "being ready")


def test_a_blocked_event_loop_is_not_live():
    release = threading.Event()

    async def block(body):
        release.wait(DEADLINE)

    box = InMemoryMailbox("notes", types=known_types())
    with Worker(memory_loop(block, box), stall_seconds=1.0) as worker:
        until_sync(lambda: worker.ask("ready")[0] == 200, "being ready")
        asyncio.run_coroutine_threadsafe(box.send(Note(1)), worker.loop).result(DEADLINE)

        until_sync(lambda: worker.ask("live")[0] == 503, "being stalled")
        _status, body = worker.ask("live")
        assert body["status"] == "stalled"
        assert body["stalled"]["notes"] >= 1.0
        release.set()
        until_sync(lambda: worker.ask("live")[0] == 200, "living again")


def test_a_stalled_worker_ends_so_that_it_can_be_started_again():
    async def block(body):
        time.sleep(600)

    async def serve():
        box = InMemoryMailbox("notes", types=known_types())
        await box.send(Note(1))
        async with memory_loop(block, box)() as loops:
            settings = GroupSettings(stall_seconds=1.0, exit_on_stall=True, wait_time_seconds=1)
            await LoopGroup(loops, settings=settings).serve()

    assert wait_for(in_child(lambda: asyncio.run(serve()))) == 70


def test_a_loop_that_fails_ends_the_group_and_says_why():
    class Refused(InMemoryMailbox):
        async def receive(self, **settings):
            raise UsageError(what="Redis refused", why="the login", fix="mend it", code="refused")

    async def serve():
        async def idle(body):
            return None

        async with memory_loop(idle)() as good, memory_loop(idle, Refused("r"))() as bad:
            bad[0].name = "bad"
            await LoopGroup([*good, *bad]).serve()

    with pytest.raises(UsageError, match="Redis refused"):
        asyncio.run(asyncio.wait_for(serve(), DEADLINE))


def test_misuse_of_groups_and_ports_is_explained():
    with pytest.raises(UsageError, match="there are none"):
        LoopGroup([])

    def report():
        return True, {"fine": 1}

    with HealthServer(host="127.0.0.1", port=0, live=report, ready=report) as server:
        assert fetch(f"{server.url}/health/live?x=1") == (200, {"fine": 1})
        assert fetch(f"{server.url}/other")[0] == 404
        head = urllib.request.Request(f"{server.url}/health/ready", method="HEAD")
        with urllib.request.urlopen(head, timeout=DEADLINE) as page:
            assert page.read() == b""
        port = int(server.url.rpartition(":")[2])
        with pytest.raises(UnavailableError, match="--health-port"):
            HealthServer(host="127.0.0.1", port=port, live=report, ready=report)


def test_the_health_port_may_be_on_ipv6():
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    report = (True, {"status": "live"})

    with HealthServer(host="::1", port=0, live=lambda: report, ready=lambda: report) as server:
        assert server.url.startswith("http://[::1]:")
        with urllib.request.urlopen(f"{server.url}/health/live", timeout=DEADLINE) as answer:
            assert answer.status == 200
