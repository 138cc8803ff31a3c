"""Tools of an MCP server over HTTP: a real one of the official SDK, its key, failures and restarts."""

# ruff: noqa: PLC0415 - the SDK is slow to load, and each worker loads this file

import asyncio
import threading

import httpx2
import pytest
import uvicorn
from pydantic import Field

import burnish
from burnish.app.wiring import build_agent
from burnish.domain import Item, ModelResponse, ToolCall, UnavailableError, UsageError
from burnish.evaluation.agents.tools import ToolFailure
from burnish.evaluation.agents.tools.mcp_servers import McpServer, McpTarget, _Link, mcp_tools
from burnish.models.scripted import ScriptedModel

KEY = "s3cret-s3cret"
CALLS = []


def shop():
    from mcp.server import MCPServer
    from mcp.server.mcpserver import Context
    from mcp.server.mcpserver.exceptions import ToolError

    server = MCPServer("shop")

    @server.tool(name="stock.of")
    async def stock_of(item: str = Field(description="Its name."), *, context: Context) -> str:
        """Tells the stock."""
        CALLS.append((item, context.request_context.meta["idempotency_key"]))
        if item == "nothing":
            raise ToolError("no such item")
        return f"7 of {item}"

    return server


class Served:
    """A shop on a port of this machine, with a key; it answers first with `statuses`, each once."""

    def __init__(self, port=0):
        app = shop().streamable_http_app()
        self.statuses = []

        async def guarded(scope, receive, send):
            headers = dict(scope.get("headers") or ())
            known = headers.get(b"authorization") == f"Bearer {KEY}".encode()
            if scope["type"] == "http" and (self.statuses or not known):
                status = self.statuses.pop() if known else 401
                await send({"type": "http.response.start", "status": status, "headers": []})
                await send({"type": "http.response.body", "body": b""})
                return
            await app(scope, receive, send)

        config = uvicorn.Config(guarded, host="127.0.0.1", port=port, log_level="critical")
        self._server = uvicorn.Server(config)
        ready = threading.Event()
        startup = self._server.startup

        async def started(sockets=None):
            await startup(sockets)
            ready.set()

        self._server.startup = started
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        ready.wait()
        self.port = self._server.servers[0].sockets[0].getsockname()[1]

    def stop(self):
        self._server.force_exit = self._server.should_exit = True
        self._thread.join()


@pytest.fixture
def served():
    CALLS.clear()
    server = Served()
    yield server
    server.stop()


def target(server, key="${SHOP_KEY}"):
    url = f"http://127.0.0.1:{server.port}/mcp"
    return McpTarget(url=url, headers={"Authorization": f"Bearer {key}"})


def test_an_agent_calls_the_tools_of_a_server_over_http(served, monkeypatch, tmp_path):
    monkeypatch.setenv("SHOP_KEY", KEY)
    calls = [("stock_of", {"item": "pens"}), ("stock_of", {"item": "nothing"}), ("stock_of", {})]

    def answer(request):
        if any(one.role == "tool" for one in request.messages):
            return "done"
        made = tuple(ToolCall(f"c{n}", *one) for n, one in enumerate(calls))
        return ModelResponse(text="", tool_calls=made)

    table = {"mcp": target(served).url, "headers": {"Authorization": "Bearer ${SHOP_KEY}"}}
    spec = burnish.Agent(
        configuration={"sections": {"user": "{{x}}"}},
        model=ScriptedModel(answer),
        tools=[table],
        folder=tmp_path,
    )
    agent = build_agent(spec, lambda given: given)

    async def run():
        try:
            return await agent.run(agent.configuration, Item(id="i", data={"x": "y"}), repeat=0)
        finally:
            await agent.close()

    output = asyncio.run(run())

    sections = agent.configuration.sections
    assert sections["tools.stock_of.description"] == "Tells the stock."
    assert sections["tools.stock_of.parameters.item"] == "Its name."
    told = [one for one in output.trace["transcript"] if one["role"] == "tool"]
    assert told[0]["content"] == "7 of pens" and "error" not in told[0]
    assert "no such item" in told[1]["content"] and told[1]["error"]
    assert "'item' is a required property" in told[2]["content"]
    assert [item for item, _ in CALLS] == ["pens", "nothing"]
    assert len({key for _, key in CALLS}) == 2 and all(len(key) == 64 for _, key in CALLS)
    assert KEY not in str(output.trace)


async def test_a_connection_that_is_lost_is_an_observation_and_the_next_call_opens_another(
    served, monkeypatch
):
    monkeypatch.setenv("SHOP_KEY", KEY)
    (tool,) = mcp_tools(target(served), ["stock.of"])
    try:
        assert await tool.call({"item": "a"}, idempotency_key="k") == "7 of a"
        await asyncio.to_thread(served.stop)
        with pytest.raises(ToolFailure, match="it may have been done"):
            await tool.call({"item": "b"}, idempotency_key="k")
        with pytest.raises(UnavailableError, match="check the address"):
            await tool.call({"item": "b"}, idempotency_key="k")
        again = await asyncio.to_thread(Served, served.port)
        try:
            assert await tool.call({"item": "c"}, idempotency_key="k") == "7 of c"
        finally:
            await tool.close()
            await asyncio.to_thread(again.stop)
    finally:
        await tool.close()
    assert [item for item, _ in CALLS] == ["a", "c"]


async def test_what_stands_before_the_server_is_no_answer_of_a_tool(served, monkeypatch):
    monkeypatch.setenv("SHOP_KEY", KEY)
    (tool,) = mcp_tools(target(served), ["stock.of"])
    try:
        for status, error, told in (
            (503, UnavailableError, "status 503"),
            (429, UnavailableError, "status 429"),
            (401, UsageError, "`headers`"),
        ):
            assert await tool.call({"item": "a"}, idempotency_key="k") == "7 of a"
            served.statuses = [status]
            with pytest.raises(error, match=told):
                await tool.call({"item": "b"}, idempotency_key="k")
        # A session that the server no longer knows is opened anew: nothing was done in it.
        served.statuses = [404]
        assert await tool.call({"item": "c"}, idempotency_key="k") == "7 of c"
    finally:
        await tool.close()
    assert [item for item, _ in CALLS] == ["a", "a", "a", "c"]


def test_a_wrong_key_is_told_when_tools_are_listed(served):
    with pytest.raises(UsageError, match="status 401"):
        mcp_tools(target(served, "wrong"), None)


class Crossed:
    """A client whose call of `away` is answered with 503 while one of `fine` is under way."""

    def __init__(self):
        self.link = _Link(client=self)
        self._refused, self._answered = asyncio.Event(), asyncio.Event()

    async def call_tool(self, name, arguments, *, meta):
        from mcp.shared.exceptions import MCPError

        body = {"params": {"name": name, "arguments": arguments, "_meta": meta}}
        request = httpx2.Request("POST", "http://shop.test/mcp", json=body)
        if name == "away":
            await self.link.note(httpx2.Response(503, request=request))
            self._refused.set()
            await self._answered.wait()
            raise MCPError(code=-32603, message="Server returned an error response")
        await self._refused.wait()
        await self.link.note(httpx2.Response(200, request=request))
        self._answered.set()
        raise MCPError(code=-32602, message="no such item")


async def test_a_failure_is_told_of_the_call_that_had_it():
    crossed = Crossed()
    server = McpServer(McpTarget(url="http://shop.test/mcp"), 1.0)
    server._open = lambda: asyncio.sleep(0, crossed.link)

    away, fine = await asyncio.gather(
        server.call("away", {}, "k1"), server.call("fine", {}, "k2"), return_exceptions=True
    )

    assert isinstance(away, UnavailableError) and "503" in away.why
    assert isinstance(fine, ToolFailure) and "no such item" in str(fine)


async def test_calls_of_a_lost_session_share_the_new_one(served, monkeypatch):
    monkeypatch.setenv("SHOP_KEY", KEY)
    (tool,) = mcp_tools(target(served), ["stock.of"])
    try:
        assert await tool.call({"item": "a"}, idempotency_key="k") == "7 of a"
        served.statuses = [404, 404]
        told = await asyncio.gather(
            *(tool.call({"item": one}, idempotency_key=f"k{one}") for one in "bc")
        )
    finally:
        await tool.close()
    assert told == ["7 of b", "7 of c"]
