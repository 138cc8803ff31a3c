"""A thousand requests that are wrong in every way: a typed error each, and never a 500."""

import base64
import json
import random
import socket

import pytest
from serving_world import (
    API,
    DEADLINE,
    OPTIMIZATIONS,
    ServerThread,
    make_served_project,
    settings_of,
)

SHAPE = {"code", "message", "fix", "retryable", "problems"}
BODIES = [
    b"",
    b"{",
    b"[",
    b"null",
    b"[]",
    b"1",
    b'"text"',
    b"\xff\xfe\x00",
    b"\x00" * 50,
    b'{"seed": NaN}',
    b'{"seed": 1e999}',
    b'{"seed": 123456789012345678901234567890}',
    b'{"seed": 1.5}',
    b'{"seed": true}',
    b'{"name": ""}',
    b'{"name": 7}',
    b'{"name": "\\ud800"}',
    b'{"\\ud800": 1}',
    b'{"agent": ["x"]}',
    b'{"agent": "\\u0000"}',
    b'{"budget": 3}',
    b'{"budget": {"max_trials": -1}}',
    b'{"budget": {"max_trials": 1e400}}',
    b'{"budget": {"max_cost_usd": Infinity}}',
    b'{"budget": {"nothing": 1}}',
    b'{"optimizer": "edits"}',
    b'{"optimizer": {"name": "../../etc/passwd"}}',
    b'{"optimizer": {"settings": []}}',
    b'{"optimizer": {"settings": {"name": 3}}}',
    b'{"optimizer": {"settings": {"seed": "x"}}}',
    b'{"optimizer": {"settings": {"space": 7}}}',
    b'{"optimizer": {"settings": {"objective": {"x": []}}}}',
    b'{"optimizer": {"settings": {"timeout_seconds": -1}}}',
    b'{"optimizer": {"name": "gepa", "settings": {"model": ["a"]}}}',
    b'{"start": "maybe"}',
    b'{"optimizer": {"settings": {"seed": 3}}}',
    b'{"optimizer": {"settings": {"a": ' + b"[" * 400 + b"]" * 400 + b"}}}",
    b'{"optimizer": {"settings": {"model": {"model": ["local/x.gguf"]}}}}',
    b'{"a":' * 900 + b"1" + b"}" * 900,
    b"[" * 100_000,
    b'{"name": "' + b"x" * 300 + b'"}',
]
QUERIES = [
    "limit=0",
    "limit=-1",
    "limit=501",
    "limit=x",
    "limit=1e3",
    "limit=99999999999999999999",
    "sort=nothing",
    "sort=",
    "status=dead",
    "cursor=%00",
    "cursor=x",
    "cursor=%F0%9F%98%80",
    "cursor=W10",
    "cursor=WyJudW1iZXIiLDFd",
    "cursor=" + "A" * 3000,
    "name=" + "n" * 300,
]
METHODS = ["PUT", "PATCH", "DELETE", "TRACE", "PROPFIND"]
LINES = [
    b"nonsense\r\n\r\n",
    b"GET\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    b"GET /\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = make_served_project(tmp_path_factory.mktemp("malformed"), items=8)
    settings = settings_of(folder, execute=False, max_body_bytes=200_000)
    with ServerThread(settings) as running:
        yield running


def wrong_bodies(draw):
    for _ in range(430):
        body = draw.choice(BODIES)
        if draw.random() < 0.3:
            body = bytes(draw.randrange(256) for _ in range(draw.randrange(1, 60)))
        place = draw.choice(["", "", "/x/duplicate"])
        yield "POST", f"{OPTIMIZATIONS}{place}", body


def wrong_queries(draw):
    lists = ["", "/x/trials", "/x/trials/y/items", "/x/rejections"]
    for _ in range(300):
        yield "GET", f"{OPTIMIZATIONS}{draw.choice(lists)}?{draw.choice(QUERIES)}", None
    for _ in range(60):
        place = base64.urlsafe_b64encode(
            json.dumps(["-created_at", *draw.choices([1, None, [], {}, 1e9, True], k=2)]).encode()
        )
        yield "GET", f"{OPTIMIZATIONS}?cursor={place.decode().rstrip('=')}", None
    yield "GET", f"{API}/events", None
    yield "GET", f"{API}/events?optimization_id=", None
    yield "GET", f"{API}/events?" + "&".join(f"optimization_id={n}" for n in range(101)), None


def wrong_paths(draw):
    letters = "abc/.%~:@{}é\u202e"
    for _ in range(100):
        path = "".join(draw.choice(letters) for _ in range(draw.randrange(1, 30)))
        yield "GET", f"/v1/private/nothing/{path}", None
    for _ in range(100):
        yield draw.choice(METHODS), draw.choice([OPTIMIZATIONS, "/metrics", "/health/live"]), None


def test_a_thousand_malformed_requests_get_a_typed_error_each(server):
    draw = random.Random(6)
    sent = 0
    with server.client() as client:
        for method, path, body in (*wrong_bodies(draw), *wrong_queries(draw), *wrong_paths(draw)):
            headers = {"Content-Type": "application/json"} if body is not None else {}
            answer = client.request(method, path, content=body, headers=headers)
            sent += 1
            assert 400 <= answer.status_code < 500, (method, path, body, answer.text)
            told = answer.json()
            assert set(told) == SHAPE, (method, path, body)
            assert told["code"]
            assert told["message"]
            assert told["fix"]
    for line in LINES:
        with socket.create_connection(_place(server), timeout=DEADLINE) as wire:
            wire.sendall(line)
            wire.shutdown(socket.SHUT_WR)
            answer = b"".join(iter(lambda: wire.recv(65536), b""))
        sent += 1
        assert answer.startswith(b"HTTP/1.1 4"), (line, answer)
        assert set(json.loads(answer.partition(b"\r\n\r\n")[2])) == SHAPE, line

    assert sent >= 1000


def _place(server):
    host, _, port = server.address.removeprefix("http://").rpartition(":")
    return host, int(port)
