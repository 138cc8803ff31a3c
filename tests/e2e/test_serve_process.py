"""`burnish serve` as a process: kill -9, stop in good order, keep its keys to itself."""

import json
import signal
import sqlite3
import sys
from pathlib import Path

import httpx2
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))

from serving_world import (
    DEADLINE,
    OPTIMIZATIONS,
    ServerProcess,
    calls,
    events_of,
    make_served_project,
    wait_for_calls,
    wait_for_results,
    wait_until_final,
)

KEY = "canary-0123456789abcdef-canary"


@pytest.fixture
def project(tmp_path):
    return make_served_project(tmp_path / "project")


def test_a_killed_server_that_starts_again_completes_the_run_by_itself(project):
    halting = {"AGENT_STOPS_AT": "20"}
    with ServerProcess(project, variables=halting) as server, server.client() as client:
        identity = client.post(OPTIMIZATIONS, json={}).json()["optimization_id"]
        wait_for_calls(project, 20)
        wait_for_results(project, 20)
        server.process.send_signal(signal.SIGKILL)
        server.process.wait(DEADLINE)
    asked = len(calls(project))

    with ServerProcess(project) as server, server.client() as client:
        view = wait_until_final(client, identity)

    assert view["status"] == "completed"
    assert view["trials"] == 4
    assert len(calls(project)) == len(set(calls(project))), "what was answered is not asked again"
    assert len(calls(project)) > asked


def test_sigterm_ends_streams_and_leaves_runs_to_be_resumed_even_from_a_blocked_agent(project):
    (project / "agent.py").write_text(
        "import time\n"
        "def answer(configuration, item):\n"
        "    open('calls.log', 'a').write('x\\n')\n"
        "    time.sleep(3600)\n"
    )
    with ServerProcess(project) as server, server.client() as client:
        identity = client.post(OPTIMIZATIONS, json={}).json()["optimization_id"]
        wait_for_calls(project, 1)
        with client.stream("GET", f"{OPTIMIZATIONS}/{identity}/events") as stream:
            lines = stream.iter_lines()
            next(events_of(lines))
            server.process.send_signal(signal.SIGTERM)
            rest = list(lines)
        code = server.process.wait(DEADLINE)
        log = server.log()

    assert code == 0
    assert any("connect again" in line for line in rest)
    assert "the run is given back" in log
    with sqlite3.connect(project / ".burnish" / "burnish.db") as database:
        status, owner = database.execute("SELECT status, lease_owner FROM optimizations").fetchone()
        queued = database.execute("SELECT optimization_id, attempts FROM run_queue").fetchall()
    assert (status, owner) == ("running", None)
    assert queued == [(identity, 0)]


def test_a_key_is_in_no_log_answer_or_database(project):
    keys = f"ops:write:{KEY},eyes:read:{KEY[::-1]}"
    with (
        ServerProcess(project, ("--host", "0.0.0.0"), {"BURNISH_API_KEY": keys}) as server,
        httpx2.Client(
            base_url=server.address.replace("0.0.0.0", "127.0.0.1"), timeout=DEADLINE
        ) as client,
    ):
        write = {"Authorization": f"Bearer {KEY}"}
        read = {"Authorization": f"Bearer {KEY[::-1]}"}
        made = client.post(OPTIMIZATIONS, json={"name": f"of {KEY}"[:12]}, headers=write)
        answers = [
            made,
            client.post(OPTIMIZATIONS, json={}, headers=read),
            client.get(f"{OPTIMIZATIONS}?cursor={KEY}", headers=write),
            client.get(f"{OPTIMIZATIONS}/x", headers={"Authorization": f"Basic {KEY}"}),
            client.get("/metrics", headers=read),
            client.post(OPTIMIZATIONS, json={KEY: KEY}, headers=write),
        ]
        headers = {**write, "X-Request-Id": "mine-1"}
        assert client.get("/health/live", headers=headers).headers["x-request-id"] == "mine-1"
        statuses = [one.status_code for one in answers]
        wait_for_calls(project, 1)
        log = server.log()
    stored = (project / ".burnish" / "burnish.db").read_bytes()

    assert statuses == [201, 403, 422, 401, 200, 422]
    for text in (log, *(one.text for one in answers), *(str(one.headers) for one in answers)):
        assert KEY not in text
        assert KEY[::-1] not in text
    assert KEY.encode() not in stored
    lines = [json.loads(line) for line in log.splitlines()]
    assert all(line["time"] and line["level"] and line["message"] for line in lines)
    created = next(line for line in lines if line.get("status") == 201)
    assert created["key_name"] == "ops"
    assert created["request_id"] == made.headers["x-request-id"]
    begins = next(line for line in lines if line["message"] == "the run begins")
    assert begins["optimization_id"] == made.json()["optimization_id"]
