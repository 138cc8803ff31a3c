"""HTTP as it comes in: what is not HTTP, or never comes to its point, is answered in the one shape."""

from __future__ import annotations

import asyncio
import json

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEADER_SECONDS = 20.0


def _answer(status: str, code: str, message: str, fix: str) -> bytes:
    body = json.dumps(
        {"code": code, "message": message, "fix": fix, "retryable": False, "problems": []}
    ).encode()
    head = (
        f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
        "x-content-type-options: nosniff\r\ncache-control: no-store\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + body


_UNREADABLE = _answer(
    "400 Bad Request",
    "unreadable",
    "the request cannot be read: it is not HTTP",
    "send HTTP/1.1, with every header on a line of its own",
)
_LATE = _answer(
    "408 Request Timeout",
    "headers_late",
    "the request's headers did not come in time",
    "send the whole request at once",
)


class Wire(HttpToolsProtocol):
    """uvicorn's protocol, with our words for what it cannot read and a deadline for headers.

    Bodies have their own deadline, later; without one for headers, connections that say nothing
    would be held for ever.
    """

    _due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._await_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._headers_came()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """Wait for the rest of this request's headers."""
        super().on_message_begin()
        self._await_headers()

    def on_headers_complete(self) -> None:
        """They are here."""
        self._headers_came()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer, and close."""
        self._end(_UNREADABLE)

    def _await_headers(self) -> None:
        if self._due is None:
            self._due = self.loop.call_later(HEADER_SECONDS, self._end, _LATE)

    def _headers_came(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None

    def _end(self, answer: bytes) -> None:
        self.transport.write(answer)
        self.transport.close()
