"""Event streams over real sockets: a client that does not read, and one that goes away."""

import socket
import threading
import time

import pytest
from serving_world import (
    DEADLINE,
    OPTIMIZATIONS,
    ServerThread,
    events_of,
    make_served_project,
    settings_of,
)

from burnish.domain import Event, EventType
from burnish.server.http.settings import StreamSettings

TEXT = "x" * 60_000
EVENTS, BATCH = 160, 10


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = make_served_project(tmp_path_factory.mktemp("streams"), items=8)
    # Two seconds for a send: who reads is never as slow, even on a busy machine.
    streams = StreamSettings(room=20, send_seconds=2.0, keep_alive_seconds=0.2)
    with ServerThread(settings_of(folder, execute=False, streams=streams)) as running:
        yield running


@pytest.fixture
def identity(server):
    with server.client() as client:
        return client.post(OPTIMIZATIONS, json={"start": False}).json()["optimization_id"]


def unread(server, identity):
    """A connection whose client asks, and never reads."""
    wire = socket.socket()
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    host, _, port = server.address.removeprefix("http://").rpartition(":")
    wire.settimeout(DEADLINE)
    wire.connect((host, int(port)))
    path = f"{OPTIMIZATIONS}/{identity}/events"
    wire.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    return wire


async def happen(services, identity, numbers):
    optimizations = services.workspace.optimizations
    lease = await optimizations.acquire_lease(identity, owner="test", seconds=60)
    for number in numbers:
        event = Event(type=EventType.PROGRESS_CHANGED, key=str(number), payload={"text": TEXT})
        await optimizations.append_events(lease, [event])


def wait_until(condition):
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def wait_for_watchers(server, count):
    wait_until(lambda: server.services.hub.watchers == count)


def test_a_client_that_does_not_read_is_cut_off_and_slows_nobody(server, identity):
    told = []

    def follow():
        path = f"{OPTIMIZATIONS}/{identity}/events"
        with server.client() as client, client.stream("GET", path) as stream:
            for event in events_of(stream.iter_lines()):
                told.append(event)
                if len(told) == EVENTS:
                    return

    with unread(server, identity):
        reading = threading.Thread(target=follow, daemon=True)
        reading.start()
        wait_for_watchers(server, 2)
        # At the pace of the one that reads: it has as little room as the other.
        for start in range(0, EVENTS, BATCH):
            numbers = range(start, start + BATCH)
            server.call(happen(server.services, identity, numbers))
            wait_until(lambda numbers=numbers: len(told) >= numbers.stop)
        reading.join(DEADLINE)
        wait_for_watchers(server, 0)

    assert [int(one[0]) for one in told] == list(range(1, EVENTS + 1))


def test_a_client_that_goes_away_is_forgotten(server, identity):
    with server.client() as client:
        path = f"{OPTIMIZATIONS}/{identity}/events"
        with client.stream("GET", path) as stream:
            lines = stream.iter_lines()
            assert any(line == ": keep-alive" for line in lines)
            assert server.services.hub.watchers == 1
    wait_for_watchers(server, 0)
