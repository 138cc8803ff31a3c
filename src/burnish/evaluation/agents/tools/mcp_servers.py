"""Tools of MCP servers: a command that is talked to over stdin and stdout, or an http address."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from burnish.domain import Json, UnavailableError, UsageError, canonical_hash
from burnish.evaluation.agents.tools.texts import inlined
from burnish.evaluation.agents.tools.tool import ToolFailure, filled, fit_name, result_text
from burnish.support.hints import did_you_mean

IDEMPOTENCY_META = "idempotency_key"
_START_SECONDS = 60.0
# The SDK's own code for a server that is gone.
_CONNECTION_CLOSED = -32000
_REFUSED = (401, 403)
_GONE = 404  # By servers that keep sessions, of one that they no longer know.
# Of what has not been done; after other failures of a server it may have been.
_AWAY = (429, 503)
# What servers offer, read once a process: each look starts the command.
_listed: dict[str, list[Offer]] = {}
_listing = threading.Lock()


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool as its server tells of it."""

    name: str
    description: str
    parameters: Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTarget:
    """Where a server is: a command to start in a folder, or an address."""

    command: tuple[str, ...] = ()
    url: str | None = None
    folder: Path = field(default_factory=Path.cwd)
    env: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """What tells it from others."""
        return canonical_hash(
            [list(self.command), self.url, str(self.folder), dict(self.env), dict(self.headers)]
        )

    @property
    def words(self) -> str:
        """For messages."""
        return self.url or " ".join(self.command)


@dataclass(slots=True)
class _Link:
    """A client of the SDK, and the HTTP statuses of failures by the key of their call.

    The SDK tells of such answers only that there was an error, and calls share the connection. What
    has no key, such as opening it, stands under None. `calls` are under way; one that is `left`
    ends with the last of them.
    """

    client: Any = None
    statuses: dict[str | None, int] = field(default_factory=dict)
    end: asyncio.Event = field(default_factory=asyncio.Event)
    calls: int = 0
    left: bool = False

    async def note(self, response: Any) -> None:
        """Called for every HTTP answer."""
        key = _key_of(response.request.content)
        if response.status_code >= 400:
            self.statuses[key] = response.status_code
        else:
            self.statuses.pop(key, None)

    def failure(self, target: McpTarget, status: int | None) -> Exception | None:
        """A refused key, or a service that is away; None where the status says neither."""
        if status in _REFUSED:
            return UsageError(
                what=f"the MCP server {target.words} refused the request",
                why=f"it answered with status {status}",
                fix="check the keys in the tool's `headers`",
                code="bad_key",
            )
        if status in _AWAY:
            return UnavailableError(
                what=f"the MCP server {target.words} cannot be reached",
                why=f"it answered with status {status}",
                fix="check that the service runs",
                code="tools_unavailable",
            )
        return None


def _key_of(body: bytes) -> str | None:
    """The key of the call that a request makes."""
    try:
        return str(json.loads(body)["params"]["_meta"][IDEMPOTENCY_META])
    except (ValueError, LookupError, TypeError):
        return None


@contextlib.contextmanager
def _nobody() -> Iterator[TextIO]:
    """Where servers log to."""
    with Path(os.devnull).open("w", encoding="utf-8") as errors:
        yield errors


@contextlib.asynccontextmanager
async def _connected(target: McpTarget, timeout_seconds: float | None) -> Any:
    """A client of the SDK; it has to be left by the task that entered it."""
    try:
        from mcp import Client, StdioServerParameters  # noqa: PLC0415 - an extra
        from mcp.client.stdio import stdio_client  # noqa: PLC0415
        from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415
    except ImportError as error:
        raise UsageError(
            what=f"the tools of {target.words} cannot be used",
            why="the package mcp is not installed",
            fix="pip install 'burnish[mcp]'",
            code="missing_extra",
        ) from error
    link = _Link()
    async with contextlib.AsyncExitStack() as stack:
        if target.url is None:
            errors = stack.enter_context(_nobody())
            env = {name: filled(value, target.words) for name, value in target.env.items()}
            program, *arguments = target.command
            server = StdioServerParameters(
                command=program, args=arguments, env=env, cwd=target.folder
            )
            transport: Any = stdio_client(server, errlog=errors)
        else:
            import httpx2  # noqa: PLC0415

            headers = {name: filled(value, target.words) for name, value in target.headers.items()}
            client = await stack.enter_async_context(
                httpx2.AsyncClient(
                    headers=headers, timeout=timeout_seconds, event_hooks={"response": [link.note]}
                )
            )
            transport = streamable_http_client(target.url, http_client=client)
        try:
            link.client = await stack.enter_async_context(
                Client(transport, read_timeout_seconds=timeout_seconds)
            )
        except Exception as error:  # noqa: BLE001 - raised again, or said better
            raise link.failure(target, link.statuses.get(None)) or error from None
        yield link


def list_offers(target: McpTarget) -> list[Offer]:
    """What a server offers. From any thread, with or without an event loop in it."""
    with _listing:
        if target.key not in _listed:
            found: list[Any] = []

            def look() -> None:
                try:
                    found.append(asyncio.run(_offers(target)))
                except Exception as error:  # noqa: BLE001 - raised where it was asked for
                    found.append(error)

            thread = threading.Thread(target=look, name="burnish-mcp", daemon=True)
            thread.start()
            thread.join()
            if isinstance(found[0], Exception):
                raise _away(target, found[0])
            _listed[target.key] = found[0]
        return _listed[target.key]


async def _offers(target: McpTarget) -> list[Offer]:
    found: list[Offer] = []
    async with asyncio.timeout(_START_SECONDS), _connected(target, _START_SECONDS) as link:
        cursor = None
        while True:
            page = await link.client.list_tools(cursor=cursor)
            found += [
                Offer(one.name, one.description or "", inlined(one.input_schema))
                for one in page.tools
            ]
            cursor = page.next_cursor
            if not cursor:
                return found


def _away(target: McpTarget, error: BaseException) -> Exception:
    first = _innermost(error)
    if isinstance(first, (UsageError, UnavailableError)):
        return first
    return UnavailableError(
        what=f"the MCP server {target.words} cannot be reached",
        why=f"{type(first).__name__}: {first}" if str(first) else type(first).__name__,
        fix="run the command by hand and see what it says"
        if target.url is None
        else "check the address and that the server runs",
        code="tools_unavailable",
    )


def _innermost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


class McpServer:
    """A server's connection, opened at the first call and shared by its tools.

    A task of its own holds it, as the SDK wants. One that is lost is opened anew by the next call.
    """

    def __init__(self, target: McpTarget, timeout_seconds: float) -> None:
        self.target = target
        self._timeout = timeout_seconds
        self._holder: asyncio.Task[None] | None = None
        self._client: asyncio.Future[_Link] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end = asyncio.Event()
        # Connections that are left to the calls that are under way on them.
        self._left: list[tuple[asyncio.Task[None], asyncio.Event]] = []

    async def call(self, name: str, arguments: Mapping[str, Json], key: str) -> str:
        """The text of a tool's answer."""
        link = await self._open()
        try:
            answer = await self._ask(link, name, arguments, key)
        except (asyncio.CancelledError, UnavailableError, UsageError, ToolFailure):
            raise
        except Exception as error:  # noqa: BLE001 - whatever the SDK raises when a server ends
            self._leave(link)
            why = f"{type(error).__name__}: {error}"
            raise ToolFailure(f"the connection was lost ({why}); it may have been done") from None
        text = _answer_text(answer)
        if answer.is_error:
            raise ToolFailure(text)
        return text

    async def _ask(
        self, link: _Link, name: str, arguments: Mapping[str, Json], key: str, *, again: bool = True
    ) -> Any:
        from mcp.shared.exceptions import MCPError  # noqa: PLC0415 - an extra

        link.calls += 1
        try:
            return await link.client.call_tool(name, dict(arguments), meta={IDEMPOTENCY_META: key})
        except MCPError as error:
            status = link.statuses.pop(key, None)
            if (failure := link.failure(self.target, status)) is not None:
                raise failure from None
            if status == _GONE and again:  # Nothing was done: it knows the session no longer.
                self._leave(link)
                return await self._ask(await self._open(), name, arguments, key, again=False)
            if error.error.code != _CONNECTION_CLOSED:
                raise ToolFailure(str(error) or type(error).__name__) from None
            self._leave(link)
            raise ToolFailure(f"{error}; it may have been done") from None
        finally:
            link.calls -= 1
            if link.left and not link.calls:
                link.end.set()

    def _leave(self, link: _Link) -> None:
        """The next call opens another connection; other calls on this one end first."""
        link.left = True
        if not link.calls:
            link.end.set()
        if self._holder is not None and self._end is link.end:
            self._left = [one for one in self._left if not one[0].done()]
            self._left.append((self._holder, link.end))
            self._holder = self._client = None

    async def close(self) -> None:
        """End the connection, and the command with it."""
        holders = [*self._left, *([(self._holder, self._end)] if self._holder else [])]
        self._left, self._holder, self._client = [], None, None
        if not holders or self._loop is not asyncio.get_running_loop():
            return
        for _, end in holders:
            end.set()
        with contextlib.suppress(Exception):
            await asyncio.wait([holder for holder, _ in holders], timeout=_START_SECONDS)

    async def _open(self) -> _Link:
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop or (self._holder and self._holder.done()):
            self._loop, self._client, self._end = loop, loop.create_future(), asyncio.Event()
            self._holder = loop.create_task(self._hold(self._client, self._end))
        return await asyncio.shield(self._client)

    async def _hold(self, client: asyncio.Future[_Link], end: asyncio.Event) -> None:
        try:
            async with _connected(self.target, self._timeout) as opened:
                opened.end = end
                client.set_result(opened)
                await end.wait()
        except Exception as error:  # noqa: BLE001 - raised where the client is waited for
            if not client.done():
                client.set_exception(_away(self.target, error))
                client.exception()  # Read once: nobody complains when no one waits.


class McpTool:
    """One tool of a server; all tools of it share the connection."""

    def __init__(self, offer: Offer, server: McpServer, version: str | None = None) -> None:
        self.name = fit_name(offer.name)
        self.description = offer.description
        self.parameters = offer.parameters
        self._own_name = offer.name
        self._server = server
        self.fingerprint = (
            canonical_hash(["mcp-tool/1", server.target.words, offer.name, version])
            if version
            else None
        )

    async def call(self, arguments: Mapping[str, Json], *, idempotency_key: str) -> str:
        """What the server answered, as text."""
        return await self._server.call(self._own_name, arguments, idempotency_key)

    async def close(self) -> None:
        """End the connection; a later call opens another."""
        await self._server.close()


def mcp_tools(
    target: McpTarget,
    names: Sequence[str] | None,
    *,
    timeout_seconds: float = 60.0,
    version: str | None = None,
) -> list[McpTool]:
    """The tools of a server that are named; without names, all."""
    offers = {one.name: one for one in list_offers(target)}
    for name in names or ():
        if name not in offers:
            raise UsageError(
                what=f"the tools of {target.words} cannot be used",
                why=f"the server offers no tool {name!r}",
                fix=did_you_mean(name, list(offers), f"name some of: {', '.join(offers)}"),
                code="invalid_tool",
            )
    server = McpServer(target, timeout_seconds)
    chosen = offers if names is None else names
    return [McpTool(offers[name], server, version) for name in chosen]


def _answer_text(answer: Any) -> str:
    parts = [
        one.text if one.type == "text" else f"({one.type} that is not shown)"
        for one in answer.content or ()
    ]
    if not parts and answer.structured_content is not None:
        return result_text(answer.structured_content)
    return result_text("\n".join(parts) or "done")
