"""Who gets in and who does not: each point of the design's safety, on a real server."""

import contextlib
import itertools
import json
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

from burnish.server.http.auth import PUBLIC, Keys

WRITE, READ = "writer-0123456789abcdef", "reader-0123456789abcdef"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return make_served_project(tmp_path_factory.mktemp("secured"), items=8)


@pytest.fixture(scope="module")
def keys():
    return Keys.of(f"ops:write:{WRITE} eyes:read:{READ}")


@pytest.fixture(scope="module")
def server(project, keys):
    with ServerThread(settings_of(project, keys=keys)) as running:
        yield running


@pytest.fixture(scope="module")
def open_server(project):
    with ServerThread(settings_of(project, execute=False)) as running:
        yield running


@pytest.fixture(scope="module")
def client(server):
    with server.client() as opened:
        yield opened


def bearer(key):
    return {"Authorization": f"Bearer {key}"}


def routes(server):
    for path, methods in server.app.openapi()["paths"].items():
        for method in methods:
            yield (
                method.upper(),
                path.replace("{optimization_id}", "x").replace("{candidate_id}", "x"),
            )


def test_no_route_answers_without_a_key(server, client):
    walked = 0
    for method, path in routes(server):
        answer = client.request(method, path)
        if path in PUBLIC:
            assert answer.status_code in (200, 503), path
            continue
        walked += 1
        assert answer.status_code == 401, (method, path)
        assert answer.json()["code"] == "key_needed"
        assert answer.headers["www-authenticate"] == "Bearer"
    assert walked > 10


def test_unknown_routes_and_methods_tell_nothing_without_a_key(client):
    for method, path in (("GET", "/admin"), ("DELETE", OPTIMIZATIONS), ("GET", "/openapi.json")):
        assert client.request(method, path).status_code == 401


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Basic abc", "bearer wrong", f"Bearer {WRITE}x", f"Token {WRITE}"],
)
def test_a_wrong_key_is_no_key(client, header):
    assert client.get(OPTIMIZATIONS, headers={"Authorization": header}).status_code == 401


def test_no_key_is_taken_from_a_query_or_a_cookie(client):
    assert client.get(f"{OPTIMIZATIONS}?key={WRITE}&access_token={WRITE}").status_code == 401
    answer = client.get(OPTIMIZATIONS, headers={"Cookie": f"key={WRITE}"})
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers


def test_a_reading_key_reads_and_changes_nothing(server, client):
    for method, path in routes(server):
        answer = client.request(method, path, headers=bearer(READ), json={})
        if method == "GET":
            assert answer.status_code != 403, path
        else:
            assert (answer.status_code, answer.json()["code"]) == (403, "read_only_key"), path


def test_a_writing_key_does_both(client):
    assert client.get(OPTIMIZATIONS, headers=bearer(WRITE)).status_code == 200
    made = client.post(OPTIMIZATIONS, headers=bearer(WRITE), json={"start": False})
    assert made.status_code == 201


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil:80", "", "[::1", "a b"]
)
def test_another_name_for_this_address_is_refused(open_server, host):
    with open_server.client() as client:
        answer = client.get(OPTIMIZATIONS, headers={"Host": host})

    assert answer.status_code in (400, 403)
    if answer.status_code == 403:
        assert answer.json()["code"] == "host_not_allowed"


def test_no_route_answers_under_another_name_and_none_is_written_by_another_site(open_server):
    """Streams of events too: the name is looked at before any route is."""
    sites = itertools.cycle([{"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}])
    walked = 0
    with open_server.client() as client:
        for method, path in routes(open_server):
            answer = client.request(method, path, headers={"Host": "evil.example"})
            assert (answer.status_code, answer.json()["code"]) == (403, "host_not_allowed"), path
            walked += 1
            if method not in ("GET", "HEAD"):
                answer = client.request(method, path, headers=next(sites), json={})
                assert (answer.status_code, answer.json()["code"]) == (403, "cross_site"), path
    assert walked > 40


# Deep, not a number, half a character, not UTF-8, a key twice, longer than a number can be.
STRANGE = (
    b'{"a":' * 2_000 + b"1" + b"}" * 2_000,
    b"[" * 50_000,
    b'{"name": NaN, "rows": [Infinity]}',
    b'{"name": "\\ud800", "prompt": "\\ud800"}',
    b'{"name": "\xff\xfe"}',
    b'{"name": "a", "name": {"name": "b"}}',
    b'{"name": ' + b"9" * 5_000 + b"}",
)


def test_no_strange_body_is_more_than_refused_by_any_route(open_server):
    with open_server.client() as client:
        for method, path in routes(open_server):
            if method in ("GET", "HEAD", "DELETE"):
                continue
            for body in STRANGE:
                headers = {"Content-Type": "application/json"}
                answer = client.request(method, path, content=body, headers=headers)
                assert 400 <= answer.status_code < 500, (method, path, body[:40], answer.text[:200])
                assert answer.json()["code"]


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:9999", "127.0.0.1:1", "[::1]:80"])
def test_the_own_names_are_taken_with_any_port(open_server, host):
    with open_server.client() as client:
        assert client.get(OPTIMIZATIONS, headers={"Host": host}).status_code == 200


def test_pages_of_other_sites_cannot_write(open_server):
    own = open_server.address.removeprefix("http://")
    refused = [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:1"},
        {"Origin": f"http://{own}.evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": f"http://{own}", "Sec-Fetch-Site": "cross-site"},
    ]
    allowed = [
        {},
        {"Origin": f"http://{own}"},
        {"Origin": f"http://{own}", "Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none"},
    ]
    with open_server.client() as client:
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            for headers in refused:
                answer = client.request(method, OPTIMIZATIONS, headers=headers, json={})
                assert (answer.status_code, answer.json()["code"]) == (403, "cross_site"), headers
        for headers in allowed:
            made = client.post(OPTIMIZATIONS, headers=headers, json={"start": False})
            assert made.status_code == 201, headers
        assert (
            client.get(OPTIMIZATIONS, headers={"Origin": "http://evil.example"}).status_code == 200
        )


def test_no_site_is_let_in_by_cors(open_server):
    with open_server.client() as client:
        headers = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
        answers = [
            client.options(OPTIMIZATIONS, headers=headers),
            client.get(OPTIMIZATIONS, headers=headers),
        ]

    for answer in answers:
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_a_body_that_is_no_json_by_its_type_is_refused(open_server):
    with open_server.client() as client:
        for kind in (
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data",
            None,
        ):
            headers = {} if kind is None else {"Content-Type": kind}
            answer = client.post(OPTIMIZATIONS, content=b'{"start": false}', headers=headers)
            assert answer.status_code == 422, kind


def test_safe_headers_are_on_every_answer(client):
    for path, headers in (("/", {}), ("/nothing", {}), (OPTIMIZATIONS, bearer(READ))):
        answer = client.get(path, headers=headers)
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-request-id"]
        assert "server" not in answer.headers


def test_a_declared_body_is_refused_before_it_comes(server):
    with _connection(server) as wire:
        wire.sendall(_head("POST", OPTIMIZATIONS, "Content-Length: 999999999"))
        answer = _answer(wire)

    assert b" 413 " in answer


def test_a_body_is_counted_while_it_comes(server):
    """Without a length, nothing but counting helps."""
    with _connection(server) as wire:
        wire.sendall(_head("POST", OPTIMIZATIONS, "Transfer-Encoding: chunked"))
        chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            for _ in range(40):
                wire.sendall(chunk)
        answer = _answer(wire)

    assert b" 413 " in answer
    assert b'"too_large"' in answer


def test_a_request_that_never_ends_is_given_up(project, keys):
    hasty = settings_of(project, keys=keys, execute=False, request_seconds=0.3)
    with ServerThread(hasty) as server, _connection(server) as wire:
        wire.sendall(_head("POST", OPTIMIZATIONS, "Content-Length: 10") + b"{")
        answer = _answer(wire)

    assert b" 503 " in answer
    assert b'"timeout"' in answer


def test_a_bug_shows_no_trace(server, client, monkeypatch):
    async def broken(*_, **__):
        raise RuntimeError("secret-detail /a/path.py")

    monkeypatch.setattr(type(server.services.workspace.pages), "optimizations", broken)

    answer = client.get(OPTIMIZATIONS, headers=bearer(READ))

    assert answer.status_code == 500
    assert answer.json()["code"] == "internal"
    assert set(answer.json()) == {"code", "message", "fix", "retryable", "problems"}
    assert "secret-detail" not in answer.text
    assert "RuntimeError" not in answer.text


def test_the_stream_needs_the_key_too(client):
    for path in (f"{OPTIMIZATIONS}/x/events", f"{API}/events?optimization_id=x"):
        assert client.get(path).status_code == 401
        assert client.get(path, headers=bearer(READ)).status_code == 404


def test_the_front_page_says_how_to_get_the_ui(client):
    answer = client.get("/")

    assert answer.status_code == 200
    assert "make ui" in answer.text


def _head(method, path, *headers):
    lines = [
        f"{method} {path} HTTP/1.1",
        "Host: localhost",
        f"Authorization: Bearer {WRITE}",
        "Content-Type: application/json",
        *headers,
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def _answer(wire):
    """As much as it takes: head and body may come apart."""
    answer = b""
    while b"problems" not in answer:
        part = wire.recv(65536)
        assert part, answer
        answer += part
    return answer


@contextlib.contextmanager
def _connection(server):
    host, _, port = server.address.removeprefix("http://").rpartition(":")
    with socket.create_connection((host, int(port)), timeout=DEADLINE) as wire:
        yield wire


def test_the_error_has_one_shape_everywhere(client):
    answers = [
        client.get("/nothing"),
        client.get("/nothing", headers=bearer(READ)),
        client.request("PUT", OPTIMIZATIONS, headers=bearer(WRITE)),
        client.post(OPTIMIZATIONS, headers=bearer(WRITE), content=b"{"),
        client.post(OPTIMIZATIONS, headers=bearer(WRITE), json={"seed": "x"}),
        client.get(f"{OPTIMIZATIONS}?limit=0", headers=bearer(READ)),
        client.get(f"{OPTIMIZATIONS}?cursor=@@", headers=bearer(READ)),
    ]

    assert [one.status_code for one in answers] == [401, 404, 405, 422, 422, 422, 422]
    for one in answers:
        body = json.loads(one.content)
        assert set(body) == {"code", "message", "fix", "retryable", "problems"}
        assert body["fix"]
        assert isinstance(body["retryable"], bool)
