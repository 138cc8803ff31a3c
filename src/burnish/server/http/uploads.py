"""Bodies that are taken as they come."""

from __future__ import annotations

from collections.abc import AsyncIterator

from fastapi import Request
from starlette.requests import ClientDisconnect

from burnish.domain import UsageError


async def parts_of(request: Request) -> AsyncIterator[bytes]:
    """The body in parts. A client that goes away in the middle has sent nothing."""
    try:
        async for part in request.stream():
            yield part
    except ClientDisconnect:
        raise UsageError(
            what="the upload was given up",
            why="the client went away in the middle of it, and nothing was stored",
            fix="send all of it again",
            code="upload_broken_off",
        ) from None
