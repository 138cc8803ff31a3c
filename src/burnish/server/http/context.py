"""What is known of the request at hand: for logs, wherever they are written."""

from __future__ import annotations

from contextvars import ContextVar

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
caller: ContextVar[str | None] = ContextVar("caller", default=None)
