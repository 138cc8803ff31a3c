"""Worker health: a watchdog over heartbeats, and `/health/live` and `/health/ready` on a port."""

from __future__ import annotations

import json
import logging
import os
import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from burnish.domain import Clock, SystemClock, UnavailableError

_log = logging.getLogger(__name__)
Report = Callable[[], tuple[bool, dict[str, Any]]]
STALL_SECONDS = 60.0
# A client that sends nothing, or reads nothing, is not waited for.
_CLIENT_SECONDS = 5.0
_EXIT_CODE = 70


class _Server(ThreadingHTTPServer):
    daemon_threads = True


class _Server6(_Server):
    address_family = socket.AF_INET6


class HealthServer:
    """Serves two reports: each is a verdict and a JSON body. Everything else is a 404.

    It answers also while the worker's event loop is blocked: that is what it is there for.
    """

    def __init__(self, *, host: str, port: int, live: Report, ready: Report) -> None:
        reports = {"/health/live": live, "/health/ready": ready}
        try:
            server = _Server6 if ":" in host else _Server
            self._server = server((host, port), _handler(reports))
        except (OSError, OverflowError) as error:
            raise UnavailableError(
                what=f"the health port {host}:{port} cannot be opened",
                why=getattr(error, "strerror", None) or str(error),
                fix="choose another with --health-port, or 0 for any that is free",
                code="port_unavailable",
            ) from None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Where it listens."""
        host, port = self._server.server_address[:2]
        name = host if isinstance(host, str) else host.decode()
        return f"http://{f'[{name}]' if ':' in name else name}:{port}"

    def __enter__(self) -> Self:
        serve = self._server.serve_forever
        self._thread = threading.Thread(
            target=serve, kwargs={"poll_interval": 0.1}, name="burnish-health", daemon=True
        )
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler(reports: dict[str, Report]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """One request."""

        timeout = _CLIENT_SECONDS
        server_version = "burnish"
        sys_version = ""

        def do_GET(self) -> None:
            """A report, or 404."""
            report = reports.get(self.path.partition("?")[0])
            if report is None:
                self._send(404, {"error": "there is /health/live and /health/ready"})
                return
            good, body = report()
            self._send(200 if good else 503, body)

        do_HEAD = do_GET  # noqa: N815 - the name that http.server looks for

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the parent's name
            """Probes come every few seconds: nobody wants to read them."""

        def _send(self, status: int, body: dict[str, Any]) -> None:
            data = json.dumps(body).encode() + b"\n"
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

    return Handler


class Watchdog:
    """Tells whether something has stopped beating, and if asked ends the process over it.

    `stalled` gives the names of what is silent for too long. `on_stall` hears of each once; by
    default the process ends at once, with code 70, when `exit_on_stall` is set: what blocks an event
    loop cannot be stopped from outside, and a supervisor starts a new worker. The messages it held
    come back by themselves.
    """

    def __init__(
        self,
        heartbeats: Callable[[], dict[str, float]],
        *,
        stall_seconds: float = STALL_SECONDS,
        exit_on_stall: bool = False,
        on_stall: Callable[[str, float], None] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._heartbeats = heartbeats
        self._limit = stall_seconds
        self._exits = exit_on_stall
        self._on_stall = on_stall
        self._clock = clock or SystemClock()
        self._known: set[str] = set()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def stalled(self) -> dict[str, float]:
        """Seconds of silence, of those that are silent for too long."""
        now = self._clock.monotonic()
        silences = {name: now - beat for name, beat in self._heartbeats().items()}
        return {name: silence for name, silence in silences.items() if silence > self._limit}

    def look(self) -> None:
        """Tell of what has stalled since the last look, and of what goes on again."""
        stalled = self.stalled()
        for name in self._known - set(stalled):
            _log.warning("%s goes on", name)
        for name, silence in stalled.items():
            if name not in self._known:
                self._report(name, silence)
        self._known = set(stalled)
        if stalled and self._exits:
            logging.shutdown()
            os._exit(_EXIT_CODE)

    def __enter__(self) -> Self:
        self._ended.clear()
        self._thread = threading.Thread(target=self._watch, name="burnish-watchdog", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join(timeout=self._limit)

    def _watch(self) -> None:
        pause = self._limit / 4
        last = self._clock.monotonic()
        while not self._ended.wait(pause):
            now = self._clock.monotonic()
            # A process that was stopped as a whole, and goes on, gets the time to show life first.
            if now - last < 2 * pause:
                self.look()
            last = now

    def _report(self, name: str, silence: float) -> None:
        _log.error("%s shows no life for %.1f s: something blocks its event loop", name, silence)
        if self._on_stall is not None:
            self._on_stall(name, silence)
