"""Tools over the wire: OpenAPI operations, plain requests and MCP servers, with keys and failures."""

import asyncio
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import yaml

import burnish
from burnish.app.wiring import build_agent
from burnish.domain import Item, ModelResponse, ToolCall, UnavailableError, UsageError
from burnish.evaluation.agents.tools import ToolFailure
from burnish.evaluation.agents.tools.http_requests import HttpTool
from burnish.evaluation.agents.tools.mcp_servers import McpTarget, mcp_tools
from burnish.models.scripted import ScriptedModel

API = {
    "openapi": "3.0.0",
    "paths": {
        "/orders/{id}": {
            "parameters": [{"$ref": "#/components/parameters/Id"}],
            "get": {
                "operationId": "getOrder",
                "summary": "Reads an order.",
                "parameters": [
                    {"name": "lang", "in": "query", "schema": {"type": "string", "nullable": True}}
                ],
            },
            "post": {
                "operationId": "change.order",
                "requestBody": {
                    "content": {
                        "application/json": {"schema": {"$ref": "#/components/schemas/Change"}}
                    }
                },
            },
        }
    },
    "components": {
        "parameters": {
            "Id": {
                "name": "id",
                "in": "path",
                "description": "Its number.",
                "schema": {"type": "integer"},
            }
        },
        "schemas": {
            "Change": {
                "type": "object",
                "required": ["status"],
                "properties": {
                    "status": {"type": "string", "enum": ["open", "void"], "description": "New."},
                    "created": {"type": "string", "default": "2020-01-01"},
                },
            }
        },
    },
}


class _Desk(BaseHTTPRequestHandler):
    def _answer(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        seen = {
            "method": self.command,
            "path": self.path,
            "body": body,
            "key": self.headers["Idempotency-Key"],
            "auth": self.headers["Authorization"],
        }
        self.server.seen.append(seen)
        status = 404 if "/999" in self.path else 200
        text = json.dumps(seen | {"key": ""}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = _answer

    def log_message(self, *_):
        pass


@pytest.fixture
def desk():
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Desk)
    server.seen = []
    server.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def observed(tools, folder, *calls):
    """What the model is told of some calls, and the agent."""

    def answer(request):
        if any(one.role == "tool" for one in request.messages):
            return "done"
        made = tuple(ToolCall(f"c{n}", *one) for n, one in enumerate(calls))
        return ModelResponse(text="", tool_calls=made)

    spec = burnish.Agent(
        configuration={"sections": {"user": "{{x}}"}},
        model=ScriptedModel(answer),
        tools=tools,
        folder=folder,
    )
    agent = build_agent(spec, lambda given: given)

    async def run():
        try:
            return await agent.run(agent.configuration, Item(id="i", data={"x": "y"}), repeat=0)
        finally:
            await agent.close()

    output = asyncio.run(run())
    return [one for one in output.trace["transcript"] if one["role"] == "tool"], agent


def test_operations_of_an_openapi_document_are_tools(tmp_path, desk, monkeypatch):
    monkeypatch.setenv("DESK_KEY", "s3cret-s3cret")
    (tmp_path / "api.yaml").write_text(yaml.safe_dump(API))
    table = {
        "openapi": "api.yaml",
        "base_url": desk.url,
        "headers": {"Authorization": "Bearer ${DESK_KEY}"},
    }
    told, agent = observed(
        [table],
        tmp_path,
        ("getOrder", {"id": 7, "lang": "it"}),
        ("change_order", {"id": 7, "status": "void"}),
        ("getOrder", {"id": 999}),
        ("change_order", {"id": 7, "status": "gone"}),
    )

    sections = agent.configuration.sections
    assert sections["tools.getOrder.description"] == "Reads an order."
    assert sections["tools.getOrder.parameters.id"] == "Its number."
    assert sections["tools.change_order.parameters.status"] == "New."
    assert '"path": "/orders/7?lang=it"' in told[0]["content"]
    assert '"body": {"status": "void"}' in told[1]["content"]
    assert told[2]["content"].startswith("error: status 404") and told[2]["error"]
    assert "'gone' is not one of" in told[3]["content"]
    assert len(desk.seen) == 3 and len({one["key"] for one in desk.seen}) == 3
    assert {one["auth"] for one in desk.seen} == {"Bearer s3cret-s3cret"}


def test_unknown_operations_and_documents_are_refused(tmp_path):
    (tmp_path / "api.json").write_text(json.dumps(API))

    def refused(**table):
        with pytest.raises(UsageError) as error:
            burnish.Agent(model=lambda text: text, tools=[table], folder=tmp_path)
        return str(error.value)

    assert "getOrder" in refused(openapi="api.json", operations=["getOder"], base_url="http://x")
    assert "base_url" in refused(openapi="api.json")
    assert "none.json" in refused(openapi="none.json")
    assert "operations" in refused(openapi="api.json", operation=["getOrder"])
    assert "neither run" in refused(name="x")


def test_a_plain_request_fills_path_query_and_body(tmp_path, desk):
    fields = {"id": {"type": "integer", "description": "Its number."}, "text": {"type": "string"}}
    table = {"name": "note", "url": f"{desk.url}/o/{{id}}", "method": "post", "parameters": fields}
    told, agent = observed([table], tmp_path, ("note", {"id": 3, "text": "hi"}))

    assert '"path": "/o/3", "body": {"text": "hi"}' in told[0]["content"]
    assert agent.configuration.sections["tools.note.parameters.id"] == "Its number."


def test_a_service_that_is_away_is_an_outage_and_no_answer(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "burnish.evaluation.agents.tools.http_requests._POLICY",
        burnish.evaluation.agents.tools.http_requests.RetryPolicy(max_attempts=1),
    )
    table = {"name": "x", "url": "http://127.0.0.1:1/x"}

    with pytest.raises(UnavailableError, match="'x' at http://127.0.0.1:1/x cannot be reached"):
        observed([table], tmp_path, ("x", {}))


def test_a_url_with_a_password_is_refused():
    with pytest.raises(UsageError, match="password"):
        HttpTool(name="x", description="", parameters={}, url="http://me:pw@host/x")


# By hand, because the SDK's own server takes seconds to start.
SERVER = """
import json, os, sys

FIELDS = {"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"]}
TOOL = {"name": "stock.of", "description": "Tells the stock.", "inputSchema": FIELDS}

def answer(method, params):
    if method == "initialize":
        version = params["protocolVersion"]
        about = {"name": "shop", "version": "1"}
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method != "tools/call":
        return None
    item = params["arguments"]["item"]
    if item == "die":
        os._exit(1)
    key = params["_meta"]["idempotency_key"]
    said = f"7 of {item} in {os.environ['PLACE']} by {len(key)}"
    failed = item == "nothing"
    text = {"type": "text", "text": "no such item" if failed else said}
    return {"content": [text], "isError": failed}

for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    found = answer(asked["method"], asked.get("params") or {})
    lost = {"error": {"code": -32601, "message": "no such method"}}
    said = {"result": found} if found else lost
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **said}), flush=True)
"""


def test_tools_of_an_mcp_server_are_called(tmp_path):
    (tmp_path / "server.py").write_text(SERVER)
    table = {"mcp": [sys.executable, "server.py"], "env": {"PLACE": "Rome"}}
    told, agent = observed(
        [table],
        tmp_path,
        ("stock_of", {"item": "pens"}),
        ("stock_of", {"item": "nothing"}),
        ("stock_of", {}),
    )

    assert agent.configuration.sections["tools.stock_of.description"] == "Tells the stock."
    assert told[0]["content"] == "7 of pens in Rome by 64"
    assert told[1]["content"] == "error: no such item" and told[1]["error"]
    assert "'item' is a required property" in told[2]["content"]


async def test_an_mcp_server_that_ends_is_an_observation_and_the_next_call_starts_it_anew(tmp_path):
    (tmp_path / "server.py").write_text(SERVER)
    target = McpTarget(
        command=(sys.executable, "server.py"), folder=tmp_path, env={"PLACE": "Rome"}
    )
    (tool,) = mcp_tools(target, ["stock.of"])
    try:
        with pytest.raises(ToolFailure):
            await tool.call({"item": "die"}, idempotency_key="k")
        assert await tool.call({"item": "pens"}, idempotency_key="k") == "7 of pens in Rome by 1"
    finally:
        await tool.close()


def test_an_mcp_server_that_does_not_start_is_told(tmp_path):
    with pytest.raises(UnavailableError, match="no-such-command"):
        mcp_tools(McpTarget(command=("no-such-command",), folder=tmp_path), None)
