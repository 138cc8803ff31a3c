"""Two server processes on one PostgreSQL: they share runs and events, and replace each other."""

import os
import signal
import threading
import time
from functools import partial

import httpx2
import psycopg
import pytest
from serving_world import (
    API,
    DEADLINE,
    OPTIMIZATIONS,
    ServerProcess,
    ServerThread,
    calls,
    events_of,
    make_served_project,
    settings_of,
    wait_for_calls,
    wait_until_final,
    wait_until_ready,
)

from burnish.jobs.event_hub import EventHub
from burnish.jobs.executor import ExecutorSettings
from burnish.server.http import services


@pytest.fixture
def database(postgres_url):
    return postgres_url


class Watcher(threading.Thread):
    """Follows a run on one server, and notes when each event came."""

    def __init__(self, address, identity):
        super().__init__(daemon=True)
        self.told = []
        self.connected = threading.Event()
        self._url = f"{address}{OPTIMIZATIONS}/{identity}/events"
        self.start()

    def run(self):
        with (
            httpx2.Client(timeout=DEADLINE) as client,
            client.stream("GET", self._url, params={"until_finished": True}) as stream,
        ):
            self.connected.set()
            for event in events_of(stream.iter_lines()):
                self.told.append(event)

    def wait_for(self, count):
        deadline = time.monotonic() + DEADLINE
        while len(self.told) < count:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def sequence(self):
        return [int(one[0]) for one in self.told]


def test_a_run_is_taken_over_and_its_stream_goes_on(database, tmp_path):
    folder = make_served_project(tmp_path / "project", items=12)
    more = ("--db", database, "--lease-seconds", "2")
    with (
        ServerProcess(folder, more, {"AGENT_STOPS_AT": "8"}) as runs,
        ServerProcess(folder, more) as watched,
        watched.client() as client,
    ):
        made = httpx2.post(f"{runs.address}{OPTIMIZATIONS}", json={}, timeout=DEADLINE)
        assert made.status_code == 201, made.text + runs.log()
        identity = made.json()["optimization_id"]
        watcher = Watcher(watched.address, identity)
        wait_for_calls(folder, 8)
        watcher.wait_for(1)
        _wait_for_results(database, 8)
        runs.process.send_signal(signal.SIGKILL)
        runs.process.wait(DEADLINE)
        seen = len(watcher.told)
        view = wait_until_final(client, identity)
        watcher.join(DEADLINE)

    assert view["status"] == "completed"
    assert view["trials"] == 4
    assert seen > 0
    assert watcher.sequence() == list(range(1, view["last_event_id"] + 1))
    assert watcher.told[-1][1] == "run_finished"
    assert len(calls(folder)) == len(set(calls(folder))), "what was answered is not asked again"


def _wait_for_results(database, number):
    """Until so many answers are kept."""
    deadline = time.monotonic() + DEADLINE
    with psycopg.connect(database, autocommit=True) as connection:
        while _count(connection) < number:
            assert time.monotonic() < deadline
            time.sleep(0.01)


def _count(connection):
    return connection.execute("SELECT count(*) FROM experiment_items").fetchone()[0]


@pytest.fixture
def _only_told(monkeypatch):
    """Servers hear of events: they do not look by themselves every two seconds."""
    monkeypatch.setattr(services, "EventHub", partial(EventHub, slow_seconds=3600.0))


@pytest.mark.usefixtures("_only_told")
def test_events_reach_other_servers_at_once_and_not_by_looking(database, tmp_path):
    folder = make_served_project(tmp_path / "project", items=8)
    fast = ExecutorSettings(look_seconds=0.1)
    with (
        ServerThread(settings_of(folder, database=database, runs=fast)) as first,
        ServerThread(settings_of(folder, database=database, execute=False)) as second,
        first.client() as one,
        second.client() as other,
    ):
        made = other.post(OPTIMIZATIONS, json={"start": False}).json()["optimization_id"]
        watcher = Watcher(second.address, made)
        assert watcher.connected.wait(DEADLINE)
        other.post(f"{OPTIMIZATIONS}/{made}/resume")
        view = wait_until_final(one, made)
        watcher.join(DEADLINE)

    assert watcher.sequence() == list(range(1, view["last_event_id"] + 1))


@pytest.mark.usefixtures("_only_told")
def test_redis_carries_events_where_it_is_configured(database, valkey, tmp_path, monkeypatch):
    folder = make_served_project(tmp_path / "project", items=8)
    monkeypatch.setenv("BURNISH_EVENTS", valkey.url)
    with (
        ServerThread(settings_of(folder, database=database)) as first,
        ServerThread(settings_of(folder, database=database, execute=False)) as second,
        first.client() as one,
    ):
        made = one.post(OPTIMIZATIONS, json={"start": False}).json()["optimization_id"]
        watcher = Watcher(second.address, made)
        assert watcher.connected.wait(DEADLINE)
        one.post(f"{OPTIMIZATIONS}/{made}/resume")
        view = wait_until_final(one, made)
        watcher.join(DEADLINE)
        ready = wait_until_ready(one)

    assert watcher.sequence() == list(range(1, view["last_event_id"] + 1))
    assert ready["checks"] == {"database": "ok", "events": "ok"}


def test_a_restarted_database_breaks_no_stream(postgres, database, tmp_path, monkeypatch):
    # It is away, however long one waits for it.
    monkeypatch.setattr("burnish.server.operations._READY_SECONDS", 0.1)
    folder = make_served_project(tmp_path / "project", items=8)
    with (
        ServerThread(settings_of(folder, database=database)) as server,
        server.client() as client,
    ):
        made = client.post(OPTIMIZATIONS, json={"start": False}).json()["optimization_id"]
        watcher = Watcher(server.address, made)
        assert watcher.connected.wait(DEADLINE)
        postgres.stop()
        away = client.get("/health/ready")
        postgres.start()
        client.post(f"{OPTIMIZATIONS}/{made}/resume")
        view = wait_until_final(client, made)
        watcher.join(DEADLINE)
        listed = client.get(f"{API}/project")

    assert (away.status_code, away.json()["code"]) == (503, "not_ready")
    assert away.json()["retryable"] is True
    assert listed.status_code == 200
    assert watcher.sequence() == list(range(1, view["last_event_id"] + 1))


def test_a_worker_takes_the_runs_of_a_server_that_only_answers(
    database, valkey, commands, tmp_path
):
    folder = make_served_project(tmp_path / "project", items=8)
    kept = {k: v for k, v in os.environ.items() if not k.startswith("BURNISH_")}
    words = ["worker", "--loops", "runs,eval", "--mailbox", valkey.url, "--db", database]
    worker = commands.start(words, cwd=folder, env=kept)
    try:
        with (
            ServerThread(settings_of(folder, database=database, execute=False)) as server,
            server.client() as client,
        ):
            made = client.post(OPTIMIZATIONS, json={}).json()["optimization_id"]
            view = wait_until_final(client, made)
    finally:
        os.kill(worker.pid, signal.SIGTERM)
        worker.communicate(DEADLINE)

    assert view["status"] == "completed"
    assert worker.returncode == 0
