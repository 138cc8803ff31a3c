"""Connections that never come to the point are ended, and others are not."""

import json
import socket
from urllib.parse import urlsplit

import pytest
from serving_world import DEADLINE, ServerThread, make_served_project, settings_of

from burnish.server.http import serving


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.setattr(serving, "HEADER_SECONDS", 0.2)
    make_served_project(tmp_path)
    with ServerThread(settings_of(tmp_path)) as running:
        yield running


def connected(server):
    place = urlsplit(server.address)
    return socket.create_connection((place.hostname, place.port), timeout=DEADLINE)


def all_of(connection):
    parts = []
    while part := connection.recv(65536):
        parts.append(part)
    return b"".join(parts)


@pytest.mark.parametrize(
    "said", [b"", b"GET /health/live HTTP/1.1\r\nHost: localhost\r\nX-Slow: "], ids=["mute", "slow"]
)
def test_headers_that_do_not_come_are_not_waited_for(server, said):
    with connected(server) as connection:
        connection.sendall(said)
        head, _, body = all_of(connection).partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 408 ")
    assert json.loads(body)["code"] == "headers_late"


def test_a_second_request_has_its_own_deadline(server):
    request = b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n"
    with connected(server) as connection:
        connection.sendall(request + b"\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")
        connection.sendall(request)
        # The rest of the first answer may come before it.
        assert b"HTTP/1.1 408 " in all_of(connection)
