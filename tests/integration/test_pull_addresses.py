"""Pulls of a model from an address: a file server on loopback that obeys, breaks, lies or refuses."""

from __future__ import annotations

import hashlib
import multiprocessing
import re
import socket
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from burnish.domain import UnavailableError
from burnish.models.local import download
from burnish.models.local import pull as pull_module
from burnish.models.local.catalog import KnownModel
from burnish.models.local.pull import pull

_CONTENT = b"GGUF" + bytes(range(256)) * 4_000
_KEPT = ["tiny.LICENSE.txt", "tiny.gguf"]


@dataclass
class FileServer:
    """Serves one file; what it was asked for stands in `ranges`."""

    content: bytes = _CONTENT
    ranged: bool = True
    status: int = 0
    breaks_after: int = 0  # bytes of each answer, 0 for none
    answers: threading.Event = field(default_factory=threading.Event)
    ranges: list[str | None] = field(default_factory=list)
    port: int = 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/tiny.gguf"

    def handle(self, request: BaseHTTPRequestHandler) -> None:
        asked = request.headers.get("Range")
        self.ranges.append(asked)
        self.answers.wait()
        start = int(re.findall(r"\d+", asked)[0]) if asked and self.ranged else 0
        status = self.status or (206 if start else 200)
        body = self.content[start:] if status in (200, 206) else b""
        request.send_response(status)
        if status == 206:
            last = len(self.content) - 1
            request.send_header("Content-Range", f"bytes {start}-{last}/{last + 1}")
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body[: self.breaks_after or None])
        request.close_connection = True


@pytest.fixture
def start_server():
    running = []

    def start(**options) -> FileServer:
        served = FileServer(**options)
        served.answers.set()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                served.handle(self)

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        served.port = server.server_port
        threading.Thread(target=server.serve_forever, daemon=True).start()
        running.append((server, served))
        return served

    yield start
    for server, served in running:
        served.answers.set()
        server.shutdown()
        server.server_close()


@pytest.fixture
def know(monkeypatch):
    def know(*sources: str) -> None:
        known = KnownModel(
            name="tiny",
            sources=sources,
            file_sha256=hashlib.sha256(_CONTENT).hexdigest(),
            size_bytes=len(_CONTENT),
            licence="Apache-2.0",
            attribution="Tiny by nobody.",
            context_tokens=2048,
        )
        monkeypatch.setattr(pull_module, "KNOWN", {"tiny": known})

    return know


def kept(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(".lock"))


def test_the_first_source_that_works_is_enough(start_server, know, tmp_path):
    first, second = start_server(), start_server()
    know(first.address, second.address)
    here: list[int] = []

    path = pull("tiny", directory=tmp_path, received=here.append)

    assert path.read_bytes() == _CONTENT
    assert kept(tmp_path) == _KEPT
    assert (first.ranges, second.ranges) == ([None], [])
    assert here == sorted(here)
    assert here[-1] == len(_CONTENT)


def test_a_connection_that_breaks_is_taken_up_where_it_broke(start_server, know, tmp_path):
    server = start_server(breaks_after=300_000)
    know(server.address)

    assert pull("tiny", directory=tmp_path).read_bytes() == _CONTENT
    assert server.ranges == [None, "bytes=300000-", "bytes=600000-", "bytes=900000-"]


def test_a_pull_goes_on_with_what_an_earlier_one_left(start_server, know, tmp_path):
    server = start_server(status=503)
    know(server.address)
    (tmp_path / ".tiny.pull").mkdir()
    part = tmp_path / ".tiny.pull" / "file.part"
    part.write_bytes(_CONTENT[:1000])

    with pytest.raises(UnavailableError, match="it answers 503") as caught:
        pull("tiny", directory=tmp_path)
    assert part.read_bytes() == _CONTENT[:1000]
    server.status = 0

    assert caught.value.code == "download_failed"
    assert pull("tiny", directory=tmp_path).read_bytes() == _CONTENT
    assert server.ranges == ["bytes=1000-"] * 2
    assert kept(tmp_path) == _KEPT


def test_where_there_are_no_ranges_it_starts_anew(start_server, know, tmp_path):
    know(start_server(ranged=False).address)
    (tmp_path / ".tiny.pull").mkdir()
    (tmp_path / ".tiny.pull" / "file.part").write_bytes(b"x" * 1000)

    assert pull("tiny", directory=tmp_path).read_bytes() == _CONTENT


@pytest.mark.parametrize("left", [1000, len(_CONTENT), len(_CONTENT) + 1])
def test_what_was_left_and_is_not_of_the_file_is_thrown_away(start_server, know, tmp_path, left):
    know(start_server().address)
    (tmp_path / ".tiny.pull").mkdir()
    (tmp_path / ".tiny.pull" / "file.part").write_bytes(b"x" * left)

    with pytest.raises(UnavailableError, match="its SHA-256 is"):
        pull("tiny", directory=tmp_path)
    assert pull("tiny", directory=tmp_path).read_bytes() == _CONTENT


def test_a_file_with_another_digest_is_thrown_away_and_the_next_source_asked(
    start_server, know, tmp_path
):
    other, right = start_server(content=_CONTENT[::-1]), start_server()
    know(other.address, right.address)
    lines: list[str] = []

    path = pull("tiny", directory=tmp_path, progress=lines.append)

    assert path.read_bytes() == _CONTENT
    assert [line for line in lines if "its SHA-256 is" in line and "next source" in line]

    path.unlink()
    know(other.address)
    with pytest.raises(UnavailableError) as caught:
        pull("tiny", directory=tmp_path)
    assert caught.value.code == "hash_mismatch"
    assert kept(tmp_path) == ["tiny.LICENSE.txt"]


def test_a_file_of_another_size_is_not_even_fetched(start_server, know, tmp_path):
    know(start_server(content=_CONTENT[:-1]).address)

    with pytest.raises(UnavailableError, match="its file has 1,024,003 bytes, not 1,024,004"):
        pull("tiny", directory=tmp_path)

    assert kept(tmp_path) == []


def test_a_refused_connection_is_one_line_and_the_next_source_is_asked(
    start_server, know, tmp_path
):
    with socket.create_server(("127.0.0.1", 0)) as free:
        closed = f"http://127.0.0.1:{free.getsockname()[1]}/tiny.gguf"
    know(closed, start_server().address)
    lines: list[str] = []

    pull("tiny", directory=tmp_path, progress=lines.append)

    assert [line for line in lines if "refused" in line and line.endswith("trying the next source")]
    know(closed)
    (tmp_path / "tiny.gguf").unlink()
    with pytest.raises(UnavailableError, match="refused") as caught:
        pull("tiny", directory=tmp_path)
    assert "check the network" in caught.value.fix


def test_a_source_that_does_not_answer_is_left_for_the_next(
    start_server, know, tmp_path, monkeypatch
):
    silent, right = start_server(), start_server()
    silent.answers.clear()
    monkeypatch.setattr(download, "_ANSWER_SECONDS", 0.05)
    know(silent.address)
    with pytest.raises(UnavailableError, match="no answer within 0.05 seconds"):
        pull("tiny", directory=tmp_path)

    monkeypatch.undo()
    know(right.address)
    assert pull("tiny", directory=tmp_path).read_bytes() == _CONTENT


def _pull_there(folder, lines) -> None:
    pull("tiny", directory=folder, progress=lines.put)


def test_two_processes_fetch_it_once(start_server, know, tmp_path):
    server = start_server()
    server.answers.clear()
    know(server.address)
    fork = multiprocessing.get_context("fork")
    lines = [fork.SimpleQueue(), fork.SimpleQueue()]
    both = [fork.Process(target=_pull_there, args=(tmp_path, line)) for line in lines]

    both[0].start()
    assert "downloading" in lines[0].get()
    both[1].start()
    assert "another process" in lines[1].get()
    server.answers.set()
    for process in both:
        process.join()

    assert [process.exitcode for process in both] == [0, 0]
    assert (tmp_path / "tiny.gguf").read_bytes() == _CONTENT
    assert server.ranges == [None]
