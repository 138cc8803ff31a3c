"""An OpenAI-compatible server that misbehaves on order, for tests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tests.servers.ports import free_port

from burnish.testing.vendors.server import (
    LoopbackServer,
    Move,
    SeenRequest,
    cut,
    endless,
    hang,
    in_thread,
    raw,
    respond,
)

__all__ = ["SeenRequest", "cut", "endless", "hang", "ok", "raw", "respond", "status", "streamed"]


class MisbehavingServer(LoopbackServer):
    """Plays one move a request, then answers properly; its port stays its own while it is closed."""

    def __init__(self, moves: Iterable[Move] = (), *, otherwise: Move | None = None) -> None:
        super().__init__(moves, otherwise=otherwise or ok(), port=free_port())


@contextmanager
def running_server(
    moves: Iterable[Move] = (), *, otherwise: Move | None = None
) -> Iterator[MisbehavingServer]:
    """The server in a thread of its own, for tests that block."""
    with in_thread(MisbehavingServer(moves, otherwise=otherwise)) as server:
        yield server


def ok(
    text: str | Callable[[SeenRequest], str] = "fine",
    *,
    usage: Mapping[str, Any] | None = None,
    delay_seconds: float = 0.0,
    **choice: Any,
) -> Move:
    """A proper completion; the text may follow from the request."""

    async def move(request: SeenRequest, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(delay_seconds)
        said = text(request) if callable(text) else text
        body = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 0,
            "model": request.body.get("model", ""),
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": said},
                    "finish_reason": "stop",
                    **choice,
                }
            ],
            **({} if usage is None else {"usage": dict(usage)}),
        }
        await respond(writer, 200, json.dumps(body).encode())

    return move


def streamed(*texts: str, cut_short: bool = False, **usage: int) -> Move:
    """A completion in pieces; without its end when it is cut short."""

    async def move(request: SeenRequest, writer: asyncio.StreamWriter) -> None:
        pieces: list[Any] = [
            {"choices": [{"index": 0, "delta": {"content": one}}]} for one in texts
        ]
        if not cut_short:
            pieces.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
            pieces.append({"choices": [], "usage": usage})
        lines = "".join(f"data: {json.dumps(one)}\n\n" for one in pieces)
        end = "" if cut_short else "data: [DONE]\n\n"
        await respond(writer, 200, (lines + end).encode(), content_type="text/event-stream")

    return move


def status(code: int, message: str = "as ordered", **headers: str) -> Move:
    """An error status in OpenAI's form; `retry_after="1"` becomes a Retry-After header."""

    async def move(request: SeenRequest, writer: asyncio.StreamWriter) -> None:
        body = json.dumps({"error": {"message": message, "type": "ordered", "code": None}})
        await respond(writer, code, body.encode(), **headers)

    return move
