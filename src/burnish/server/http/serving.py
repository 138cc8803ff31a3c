"""Server process: its socket, its HTTP protocol, its start and its end in good order."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import logging
import os
import signal
import socket
from collections.abc import Callable, Iterator

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from burnish.app.optimize.runners import require_answer
from burnish.config.served_project import ServedProject, ServeOptions
from burnish.domain import UnavailableError, UsageError
from burnish.server.http.app import create_app
from burnish.server.http.logs import logging_to_stderr
from burnish.server.http.settings import ServerSettings

HEADER_SECONDS = 20.0
_log = logging.getLogger("burnish.server")
_BACKLOG = 2048
_START_SECONDS = 30.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


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


class _Server(uvicorn.Server):
    """Ends event streams as soon as it is to stop: they would never end by themselves."""

    def __init__(self, app: Starlette, shutdown_seconds: float) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                server_header=False,
                date_header=True,
                proxy_headers=False,
                http=Wire,
                lifespan="off",
                timeout_keep_alive=30,
                timeout_graceful_shutdown=int(max(shutdown_seconds, 1)),
                ws="none",
            )
        )
        self._app = app
        self.answering = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer, and say so."""
        await super().startup(sockets)
        self.answering.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are taken by `serve`, which knows what a second one means."""
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close the streams, then all the rest."""
        services = getattr(self._app.state, "services", None)
        if services is not None:
            services.close_streams()
        await super().shutdown(sockets)


def run(options: ServeOptions, listening: Callable[[str], None]) -> None:
    """Serve as the command line was told, until SIGINT or SIGTERM."""
    settings = ServerSettings.of(options, os.environ)
    if options.mailbox is not None:
        asyncio.run(require_answer(options.mailbox))
    with logging_to_stderr(plain=options.plain_logs, level=options.log_level):
        asyncio.run(serve(settings, listening=listening))


async def serve(settings: ServerSettings, *, listening: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM. `listening` is called with the address once it answers."""
    # What is wrong with the configuration is said now, and not to the first request.
    await asyncio.to_thread(ServedProject(settings.config, settings.urls).own)
    with contextlib.closing(bind(settings.host, settings.port)) as bound:
        app = create_app(settings)
        await answer_on(bound, app, listening, shutdown_seconds=settings.shutdown_seconds)


async def answer_on(
    bound: socket.socket,
    app: Starlette,
    listening: Callable[[str], None],
    *,
    shutdown_seconds: float,
) -> None:
    """Serve an application on a bound socket until SIGINT or SIGTERM."""
    server = _Server(app, shutdown_seconds)
    address = address_of(bound)
    with _stopping(server):
        # Opened here and not by uvicorn, which would end the program where opening fails.
        async with app.router.lifespan_context(app):
            running = asyncio.create_task(server.serve(sockets=[bound]))
            await asyncio.wait_for(server.answering.wait(), _START_SECONDS)
            listening(address)
            _log.info("the server listens", extra={"address": address})
            await running
    _log.info("the server has stopped")


def address_of(bound: socket.socket) -> str:
    """Where a bound socket is reached."""
    host, port = bound.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


@contextlib.contextmanager
def _stopping(server: uvicorn.Server) -> Iterator[None]:
    """The first signal stops it in good order, the second at once."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        server.force_exit = server.should_exit
        server.should_exit = True

    for number in _SIGNALS:
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; a busy port is told before anything else is opened."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise UsageError(
            what=f"the server cannot listen on {host!r}",
            why=getattr(error, "strerror", None) or str(error),
            fix="name an address of this machine, such as 127.0.0.1",
            code="bad_address",
        ) from None
    try:
        if os.name == "posix":
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(_BACKLOG)
        bound.setblocking(False)
    except OSError as error:
        bound.close()
        busy = error.errno == errno.EADDRINUSE
        raise UnavailableError(
            what=f"the server cannot listen on {host}:{port}",
            why=error.strerror or str(error),
            fix="stop what listens there, or take another port with --port (0 picks a free one)"
            if busy
            else "name an address of this machine and a port that you may use",
            code="address_in_use" if busy else "bad_address",
        ) from None
    return bound
