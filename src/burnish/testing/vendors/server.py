"""Loopback server that plays one move a request, and the moves of servers that misbehave."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Self, TypeVar

S = TypeVar("S", bound="LoopbackServer")
_SECONDS = 600


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """What a client sent; the path is with its query."""

    path: str
    headers: Mapping[str, str]
    body: Any
    method: str = "POST"

    @property
    def authorization(self) -> str | None:
        """The header that carries the key."""
        return self.headers.get("authorization")


Move = Callable[[SeenRequest, asyncio.StreamWriter], Awaitable[None]]


class LoopbackServer:
    """Plays one move a request, then `otherwise`; remembers what it was asked."""

    prefix = "/v1"

    def __init__(self, moves: Iterable[Move] = (), *, otherwise: Move, port: int = 0) -> None:
        self.base_url = ""
        self.seen: list[SeenRequest] = []
        self._moves = deque(moves)
        self.otherwise = otherwise
        self._connections: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._port = port

    @property
    def requests(self) -> int:
        """How many requests came in."""
        return len(self.seen)

    def plan(self, *moves: Move) -> None:
        """Play these too, after those that are still to come."""
        self._moves.extend(moves)

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]
        self.base_url = f"http://127.0.0.1:{self._port}{self.prefix}"
        return self

    async def __aexit__(self, *_error: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await self._server.wait_closed()

    @contextmanager
    def closed(self) -> Iterator[None]:
        """Every connection is cut and none is taken, from another thread, while the block lasts."""
        assert self._loop is not None
        asyncio.run_coroutine_threadsafe(self.__aexit__(), self._loop).result(timeout=_SECONDS)
        try:
            yield
        finally:
            asyncio.run_coroutine_threadsafe(self.__aenter__(), self._loop).result(timeout=_SECONDS)

    def leave_to_parent(self) -> None:
        """Listen no more in a forked process, so that it is for the parent to close."""
        assert self._server is not None
        for one in self._server.sockets:
            os.close(one.fileno())

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                while not writer.is_closing():
                    request = await _read_request(reader)
                    self.seen.append(request)
                    move = self._moves.popleft() if self._moves else self.otherwise
                    await move(request, writer)
        except asyncio.CancelledError:
            pass  # The server stops; asyncio would log a cancelled handler.
        finally:
            self._connections.discard(task)
            writer.close()


@contextmanager
def in_thread(server: S) -> Iterator[S]:
    """The server in a thread of its own, for work that blocks."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="loopback-server", daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result(timeout=_SECONDS)
        yield server
        asyncio.run_coroutine_threadsafe(server.__aexit__(), loop).result(timeout=_SECONDS)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(timeout=_SECONDS)
        loop.close()


def raw(body: bytes, content_type: str = "application/json", code: int = 200) -> Move:
    """Any bytes: malformed JSON, a wrong content type, a body of 10 MB."""

    async def move(_request: SeenRequest, writer: asyncio.StreamWriter) -> None:
        await respond(writer, code, body, content_type=content_type)

    return move


def endless(writes: list[int], *, chunk: bytes = b" " * 65_536, code: int = 200) -> Move:
    """A body without a length that never ends; `writes` grows by the bytes that were taken."""

    async def move(_request: SeenRequest, writer: asyncio.StreamWriter) -> None:
        head = f"HTTP/1.1 {code} Ordered\r\ncontent-type: application/json\r\nconnection: close\r\n"
        writer.write(head.encode() + b"\r\n")
        while not writer.is_closing():
            writer.write(chunk)
            await writer.drain()
            writes.append(len(chunk))

    return move


def hang() -> Move:
    """No answer, for ever."""

    async def move(_request: SeenRequest, _writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    return move


def cut(sent: bytes = b'{"choices": [{"mess') -> Move:
    """The connection ends in the middle of the body."""

    async def move(_request: SeenRequest, writer: asyncio.StreamWriter) -> None:
        head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n"
        writer.write(head + sent)
        await writer.drain()
        writer.close()

    return move


async def respond(
    writer: asyncio.StreamWriter,
    code: int,
    body: bytes,
    *,
    content_type: str = "application/json",
    **headers: str,
) -> None:
    """Send a whole answer; `retry_after="1"` becomes a Retry-After header."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    fields = {"content-type": content_type, "content-length": str(len(body)), **given}
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    writer.write(f"HTTP/1.1 {code} Ordered\r\n{lines}\r\n".encode() + body)
    await writer.drain()


async def _read_request(reader: asyncio.StreamReader) -> SeenRequest:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    fields = (line.split(":", 1) for line in head[1:] if ":" in line)
    headers = {name.strip().lower(): value.strip() for name, value in fields}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    method, path = head[0].split(" ")[:2]
    return SeenRequest(path, headers, _content(body, headers), method)


def _content(body: bytes, headers: Mapping[str, str]) -> Any:
    """JSON as what it says; a form with files as its bytes."""
    if not headers.get("content-type", "application/json").startswith("application/json"):
        return body
    return json.loads(body) if body else {}
