"""Request log: each request's id, log line and metrics, and the headers that keep its response safe."""

from __future__ import annotations

import logging
import re
import secrets
import time
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from burnish.server.http.errors import bug_response
from burnish.server.http.logs import caller, request_id
from burnish.server.http.metrics import Metrics

_log = logging.getLogger("burnish.access")
_GIVEN_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_QUIET = ("/health/", "/metrics")
CONTENT_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
_HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}


class RequestLog:
    """ASGI middleware, the outermost. A bug ends here, as a response without a trace."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        identity = _identity(scope)
        request_id.set(identity)
        caller.set(None)
        status, started = 0, time.perf_counter()

        async def framed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = identity
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            await self._app(scope, receive, framed)
        except Exception as error:
            if status:
                raise
            await bug_response(error)(scope, receive, framed)
        finally:
            self._note(scope, status, time.perf_counter() - started)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "unknown")
        self._metrics.note_request(scope["method"], route, status, seconds)
        if status < 500 and scope["path"].startswith(_QUIET):
            return
        facts: dict[str, Any] = {
            "method": scope["method"],
            "path": scope["path"][:300],
            "status": status,
            "ms": round(seconds * 1000, 1),
        }
        if (key := caller.get()) is not None:
            facts["key_name"] = key
        if optimization := (scope.get("path_params") or {}).get("optimization_id"):
            facts["optimization_id"] = str(optimization)[:64]
        _log.log(logging.WARNING if status >= 500 else logging.INFO, "request", extra=facts)


def _identity(scope: Scope) -> str:
    """The caller's own id where it is harmless, so that logs of several services join up."""
    given = Headers(scope=scope).get("x-request-id", "")
    return given if _GIVEN_ID.fullmatch(given) else secrets.token_hex(8)
