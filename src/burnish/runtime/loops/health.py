"""`/health/live` and `/health/ready` on a small port, answered by a thread of their own."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from burnish.domain import UnavailableError

Report = Callable[[], tuple[bool, dict[str, Any]]]

# A client that sends nothing, or reads nothing, is not waited for.
_CLIENT_SECONDS = 5.0


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
