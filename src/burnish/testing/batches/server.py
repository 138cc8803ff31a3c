"""Fake batch server: what the fake endpoints of all vendors share, and what they were asked."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Self

from burnish.testing.batches.faults import BatchFaults

Document = dict[str, Any]


class RefusedError(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(slots=True)
class TakenBatch:
    """A batch that was taken: its requests by name, and how often it may be looked at until it ends."""

    id: str
    number: int
    requests: dict[str, Document]
    looks_left: int
    told: Document = field(default_factory=dict)
    cancelled: bool = False

    @property
    def ended(self) -> bool:
        """Whether it was looked at often enough, or cancelled."""
        return self.cancelled or self.looks_left <= 0


@dataclass(frozen=True, slots=True)
class Line:
    """What came of one request: an answer, the status of an error, or neither, since it expired."""

    name: str
    request: Document
    answer: Document | None = None
    status: int | None = None


class BatchServer(ABC):
    """Answers requests in batches and one by one, each by `answer`, a function of its last text.

    `paid` counts by request how often it was answered in a batch, `called` how often it was answered
    by itself. Use it in a `with` block; `url` is the address for `base_url`.
    """

    base: ClassVar[str] = ""

    def __init__(
        self, answer: Callable[[str], str] = str.upper, faults: BatchFaults | None = None
    ) -> None:
        self.answer = answer
        self.faults = faults or BatchFaults()
        self.paid: Counter[str] = Counter()
        self.called: Counter[str] = Counter()
        self.batches: dict[str, TakenBatch] = {}
        self.submits = 0
        self._lock = threading.Lock()
        self._lines: dict[str, list[Line]] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True

    @property
    def url(self) -> str:
        """Where it is, as `base_url` wants it."""
        return f"http://127.0.0.1:{self._server.server_address[1]}{self.base}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @abstractmethod
    def route(self, method: str, path: str, query: str, body: bytes) -> Document | bytes:
        """The answer to a request; RefusedError for an error."""

    @abstractmethod
    def completed(self, request: Document) -> Document:
        """The vendor's answer to one request."""

    def take(self, requests: dict[str, Document], **told: Any) -> TakenBatch:
        """A new batch; its faults may refuse it, or cut the connection once it is taken."""
        number, self.submits = self.submits, self.submits + 1
        if status := self.faults.refused.get(number):
            raise RefusedError(status, "not now")
        place = len(self.batches)
        batch = TakenBatch(f"batch_{place}", place, requests, self.faults.looks, told)
        self.batches[batch.id] = batch
        if number in self.faults.cut:
            raise ConnectionAbortedError
        return batch

    def find(self, batch_id: str) -> TakenBatch:
        """A batch by its id, looked at once more."""
        if batch_id not in self.batches:
            raise RefusedError(404, f"there is no batch {batch_id}")
        return self.batches[batch_id]

    def lines(self, batch: TakenBatch) -> list[Line]:
        """What came of a batch; it is worked out, and paid for, once."""
        if batch.id not in self._lines:
            self._lines[batch.id] = [*self._work(batch)]
        return self._lines[batch.id]

    def _work(self, batch: TakenBatch) -> Iterator[Line]:
        faults = self.faults
        for place, (name, request) in enumerate(batch.requests.items()):
            status = faults.errored(batch.number, place)
            if batch.cancelled or faults.expired(batch.number, place):
                yield Line(name, request)
            elif status is not None:
                yield Line(name, request, status=status)
            elif not faults.dropped(batch.number, place):
                self.paid[digest(request)] += 1
                line = Line(name, request, self.completed(request))
                yield line
                if faults.repeated(batch.number, place):
                    yield line

    def _handler(server: BatchServer) -> type[BaseHTTPRequestHandler]:  # noqa: N805 - see below
        class Handler(BaseHTTPRequestHandler):
            """One connection; `self` is it, and `server` what it belongs to."""

            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._respond("GET")

            def do_POST(self) -> None:
                self._respond("POST")

            def _respond(self, method: str) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                path, _, query = self.path.removeprefix(server.base).partition("?")
                status = 200
                try:
                    with server._lock:
                        answer = server.route(method, path.strip("/"), query, body)
                except ConnectionAbortedError:
                    self.close_connection = True
                    return
                except RefusedError as error:
                    status, answer = error.status, {"error": {"message": str(error)}}
                content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                kind = (
                    "application/octet-stream" if isinstance(answer, bytes) else "application/json"
                )
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
                """Nothing is printed."""

        return Handler


def digest(request: Mapping[str, Any]) -> str:
    """What tells one request from another."""
    return hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()


def file_in_form(body: bytes) -> bytes:
    """The file of a form as httpx and the vendors' own clients send it."""
    mark = body.split(b"\r\n", 1)[0]
    for part in body.split(mark):
        head, _, content = part.partition(b"\r\n\r\n")
        if re.search(rb'name="file"', head):
            return content.removesuffix(b"\r\n")
    raise RefusedError(400, "the form has no file")
