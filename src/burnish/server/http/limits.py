"""Limits of requests: bodies are counted while they come in, and each request has a deadline."""

from __future__ import annotations

import asyncio
from typing import TypeVar

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from burnish.server.http.errors import error_response

T = TypeVar("T", int, float)

# Event streams last as long as somebody watches; each of their writes has its own deadline.
_ENDLESS = "/events"


class Limits:
    """ASGI middleware: ends requests that are too large or take too long.

    `bodies` and `patience` have other limits for paths that begin so, such as uploads.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        max_body_bytes: int,
        seconds: float,
        bodies: dict[str, int] | None = None,
        patience: dict[str, float] | None = None,
    ) -> None:
        self._app = app
        self._max_bytes = max_body_bytes
        self._seconds = seconds
        self._bodies = bodies or {}
        self._patience = patience or {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = _of(scope["path"], self._bodies, self._max_bytes)
        declared = Headers(scope=scope).get("content-length", "0")
        if declared.isdecimal() and int(declared) > limit:
            await _too_large(limit)(scope, receive, send)
            return
        if scope["method"] == "GET" and scope["path"].endswith(_ENDLESS):
            await self._app(scope, _counted(receive, limit), send)
            return
        await self._within_deadline(scope, _counted(receive, limit), send)

    async def _within_deadline(self, scope: Scope, receive: Receive, send: Send) -> None:
        started, seconds = False, _of(scope["path"], self._patience, self._seconds)

        async def watched(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        deadline = asyncio.timeout(seconds)
        try:
            async with deadline:
                await self._app(scope, receive, watched)
        except TimeoutError:
            if started or not deadline.expired():
                raise
            response = error_response(
                503,
                code="timeout",
                message=f"the request was given up: it took longer than {seconds:g} seconds",
                fix="ask for less at once, or try again when the server has less to do",
                retryable=True,
                headers={"Retry-After": "5"},
            )
            await response(scope, receive, send)


def _of(path: str, special: dict[str, T], usual: T) -> T:
    return next((one for start, one in special.items() if path.startswith(start)), usual)


def _counted(receive: Receive, limit: int) -> Receive:
    seen = 0

    async def counting() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > limit:
            # Of all exceptions FastAPI lets only this one through while it reads a body.
            raise HTTPException(413, detail=_words(limit))
        return message

    return counting


def _too_large(limit: int) -> ASGIApp:
    return error_response(
        413,
        code="too_large",
        message=f"what was sent is too large: {_words(limit)}",
        fix="send less: a smaller picture, or fewer rows at a time",
        headers={"Connection": "close"},
    )


def _words(limit: int) -> str:
    return f"at most {limit / 1_000_000:g} MB are taken"
