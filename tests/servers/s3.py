"""A real S3 server for tests: moto's, in a process of its own, which misbehaves on order.

Requests are done one after another, because moto by itself would let two conditional writes of one
moment both through, as no S3 does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

_START_SECONDS = 600.0
_CONTROL = "/-/faults"
# moto takes any key; these appear in no message.
ACCESS_KEY = "test"
SECRET_KEY = "canary-secret-of-the-tests"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What happens to one request: it waits, and is answered with a status instead of an answer.

    With `after` the server does what it was asked before it answers so: the client can't know.
    """

    status: int | None = None
    seconds: float = 0.0
    after: bool = False


class S3Server:
    """One running server on a loopback port."""

    def __init__(self) -> None:
        with tempfile.TemporaryFile() as log:
            self._process = subprocess.Popen(
                [sys.executable, "-P", __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
            )
            assert self._process.stdout is not None
            port = self._process.stdout.readline().decode().strip()
            if not port:
                self.stop()
                log.seek(0)
                raise RuntimeError("install burnish[dev]: " + log.read().decode(errors="replace"))
        self.url = f"http://127.0.0.1:{port}"

    @property
    def settings(self) -> dict[str, str]:
        """What a client of the server is opened with."""
        return {
            "endpoint": self.url,
            "region": "us-east-1",
            "access_key_id": ACCESS_KEY,
            "secret_access_key": SECRET_KEY,
        }

    def create_bucket(self, name: str) -> None:
        """An empty bucket."""
        self._send("PUT", f"/{name}")

    def misbehave(self, *faults: Fault) -> None:
        """One fault for each of the next requests; without any, all is well again."""
        self._send("PUT", _CONTROL, json.dumps([asdict(fault) for fault in faults]).encode())

    def requests(self) -> int:
        """How many requests there were since the last call of `misbehave`."""
        return int(self._send("GET", _CONTROL))

    def stop(self) -> None:
        """End it; what it kept is gone."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(_START_SECONDS)

    def _send(self, method: str, path: str, body: bytes | None = None) -> bytes:
        headers = {"content-type": "application/octet-stream"}
        request = urllib.request.Request(self.url + path, data=body, method=method, headers=headers)
        with urllib.request.urlopen(request, timeout=_START_SECONDS) as answer:
            said: bytes = answer.read()
            return said


@contextmanager
def running_s3() -> Iterator[S3Server]:
    """A server for as long as the block lasts; one for a whole test module is enough."""
    server = S3Server()
    try:
        yield server
    finally:
        server.stop()


class _Faults:
    """WSGI around an application: one request at a time, some of them badly."""

    def __init__(self, application: Callable[..., Iterable[bytes]]) -> None:
        self._application = application
        self._turn = threading.Lock()
        self._faults: deque[Fault] = deque()
        self._requests = 0

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Sequence[bytes]:
        if environ["PATH_INFO"] == _CONTROL:
            return self._controlled(environ, start)
        self._requests += 1
        fault = self._faults.popleft() if self._faults else Fault()
        # A slow answer keeps nobody else waiting.
        time.sleep(fault.seconds)
        if fault.status is None or fault.after:
            answer = self._done(environ, start if fault.status is None else _ignored)
        if fault.status is not None:
            start(f"{fault.status} Ordered", [("content-length", "0")])
            return [b""]
        return answer

    def _done(self, environ: dict[str, Any], start: Callable[..., Any]) -> Sequence[bytes]:
        with self._turn:
            return list(self._application(environ, start))

    def _controlled(self, environ: dict[str, Any], start: Callable[..., Any]) -> Sequence[bytes]:
        if environ["REQUEST_METHOD"] == "PUT":
            ordered = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
            self._faults = deque(Fault(**one) for one in json.loads(ordered))
            self._requests = 0
        start("200 OK", [("content-type", "text/plain")])
        return [str(self._requests).encode()]


def _ignored(*_status_and_headers: object) -> None:
    """Takes the start of an answer that nobody gets."""


def _serve() -> None:
    """The child: prints its port, and ends when the tests are gone."""
    from moto.moto_server.werkzeug_app import (  # noqa: PLC0415 - seconds to load
        DomainDispatcherApplication,
        create_backend_app,
    )
    from werkzeug.serving import make_server  # noqa: PLC0415

    application = _Faults(DomainDispatcherApplication(create_backend_app))
    server = make_server("127.0.0.1", 0, application, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    _serve()
