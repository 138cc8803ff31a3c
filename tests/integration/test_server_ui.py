"""The built web UI: served without a key and with strict headers, and never in the API's way."""

import gzip
import os

import pytest
from serving_world import API, OPTIMIZATIONS, ServerThread, make_served_project, settings_of

from burnish.server.http.auth import Keys

KEY = "writer-0123456789abcdef"
HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
PAGE = "<!doctype html><div id=root></div>" + " " * 2000
SCRIPT = "export const words = 'burnish';\n" * 100


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ui")
    (folder / "assets").mkdir()
    (folder / "index.html").write_text(PAGE)
    (folder / "assets" / "index-abc123.js").write_text(SCRIPT)
    (folder / "icon.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (folder / ".secret").write_text("not for anybody")
    return folder


@pytest.fixture(scope="module")
def client(tmp_path_factory, built):
    project = make_served_project(tmp_path_factory.mktemp("served"), items=8)
    settings = settings_of(project, keys=Keys.of(KEY), execute=False, ui=built)
    with ServerThread(settings) as running, running.client() as opened:
        yield opened


@pytest.mark.parametrize(
    "path", ["/", "/runs", "/runs/0199d1c8?tab=trials", "/agents/a%2Fb/versions"]
)
def test_every_screen_begins_with_the_page(client, path):
    answer = client.get(path, headers=HTML)

    assert answer.status_code == 200
    assert answer.text == PAGE
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"


def test_the_page_and_its_files_come_with_strict_headers(client):
    for path in ("/", "/assets/index-abc123.js", "/icon.svg"):
        answer = client.get(path, headers=HTML)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"


def test_files_with_a_hash_are_kept_for_ever_and_packed(client):
    answer = client.get("/assets/index-abc123.js")
    plain = client.get("/assets/index-abc123.js", headers={"Accept-Encoding": "identity"})
    with client.stream("GET", "/assets/index-abc123.js") as streamed:
        raw = b"".join(streamed.iter_raw())

    assert answer.text == plain.text == SCRIPT
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["vary"] == "Accept-Encoding"
    assert "content-encoding" not in plain.headers
    assert gzip.decompress(raw).decode() == SCRIPT


def test_what_a_browser_has_is_not_sent_again(client):
    first = client.get("/", headers=HTML)
    second = client.get("/", headers={**HTML, "If-None-Match": first.headers["etag"]})
    head = client.head("/", headers=HTML)

    assert (second.status_code, second.content) == (304, b"")
    assert (head.status_code, head.content) == (200, b"")


def test_unknown_files_are_404_in_the_usual_shape(client):
    answer = client.get("/assets/index-old.js", headers={"Accept": "*/*"})

    assert answer.status_code == 404
    assert answer.json()["code"] == "unknown_file"
    assert set(answer.json()) == {"code", "message", "fix", "retryable", "problems"}


@pytest.mark.parametrize(
    "path",
    [
        *(OPTIMIZATIONS, f"{API}/nothing", "/v1", "/planar/v1/agents/a/optimizers/"),
        *("/api/x", "/metrics", "/docs", "/openapi.json", "/health/nothing"),
    ],
)
def test_no_page_stands_in_the_way_of_the_api(client, path):
    assert client.get(path, headers=HTML).status_code == 401


@pytest.mark.parametrize(
    "path", ["/.secret", "/assets/../.secret", "/assets/%2e%2e/.secret", "/%2e%2e/agent.py"]
)
def test_nothing_but_the_build_is_served(client, path):
    answer = client.get(path, headers={"Accept": "*/*"})

    assert answer.status_code in (401, 404)
    assert "not for anybody" not in answer.text


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_the_ui_is_only_read(client, method):
    assert client.request(method, "/runs", headers=HTML).status_code == 401


def test_the_stream_works_as_the_pages_of_the_ui_ask_for_it(client):
    """By fetch, since only that can send a key: as a browser does it, with what it adds."""
    asked = {
        "Authorization": f"Bearer {KEY}",
        "Accept": "text/event-stream",
        "Sec-Fetch-Site": "same-origin",
        "Sec-Fetch-Mode": "cors",
        "Referer": str(client.base_url),
    }
    made = client.post(
        OPTIMIZATIONS,
        json={"start": False},
        headers={**asked, "Accept": "application/json", "Origin": str(client.base_url).rstrip("/")},
    )

    run = f"{OPTIMIZATIONS}/{made.json()['optimization_id']}"
    with client.stream("GET", f"{run}/events", headers=asked) as stream:
        assert stream.status_code == 200
        assert stream.headers["content-type"].startswith("text/event-stream")
        assert "content-encoding" not in stream.headers
    assert (
        client.post(
            f"{run}/cancel", headers={**asked, "Origin": "https://evil.example"}
        ).status_code
        == 403
    )


def test_a_new_build_is_noticed(client, built):
    newer = PAGE + "<!-- newer -->"
    page = built / "index.html"
    before = page.stat().st_mtime_ns

    page.write_text(newer)
    os.utime(page, ns=(before + 10**9, before + 10**9))
    shown = client.get("/", headers=HTML).text
    page.write_text(PAGE)
    os.utime(page, ns=(before, before))

    assert shown == newer


def test_without_a_build_the_front_page_says_how_to_get_it(tmp_path):
    project = make_served_project(tmp_path / "served", items=8)
    with ServerThread(settings_of(project, execute=False)) as running, running.client() as client:
        page = client.get("/", headers=HTML)
        document = client.get("/", headers={"Accept": "application/json"}).json()
        other = client.get("/runs", headers=HTML)

    assert "make ui" in page.text
    assert page.headers["content-type"].startswith("text/html")
    assert document["ui"] is None
    assert document["api"] == "/openapi.json"
    assert other.json()["code"] == "unknown_route"
