"""Tools for a local model by grammar: it writes a call or an answer as JSON, and nothing else.

The tools' texts stand in the system message. A grammar made from their schemas leaves the model no
other sentences than `{"tool": NAME, "arguments": {…}}` and `{"answer": …}`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from burnish.domain import (
    Json,
    Message,
    ModelRequest,
    ModelResponse,
    ToolCall,
    ToolDefinition,
    UsageError,
)

_WAYS = (
    'Answer with JSON only: {"tool": NAME, "arguments": {…}} to call a tool, or {"answer": …} once '
    "you can answer."
)


def told_as_text(request: ModelRequest) -> ModelRequest:
    """The request as one without tools: their texts in the system message, calls as JSON."""
    if not request.tools and all(message.plain for message in request.messages):
        return request
    names = {call.id: call.name for one in request.messages for call in one.tool_calls}
    messages = [_plain(one, names) for one in request.messages]
    offered = _offered(request)
    if offered:
        told = "\n".join(["You may call these tools:", *map(_told, offered), "", _WAYS])
        if messages and messages[0].role == "system":
            first = messages.pop(0)
            told = f"{first.content}\n\n{told}"
        messages.insert(0, Message("system", told))
    schema = _schema(request, offered) if offered else request.schema
    return replace(
        request,
        messages=tuple(messages),
        tools=(),
        labels=() if offered else request.labels,
        schema=schema,
    )


def read_calls(request: ModelRequest, response: ModelResponse) -> ModelResponse:
    """The answer with its call, or with the text that it holds; broken JSON stays text."""
    if not _offered(request):
        return response
    try:
        value: Any = json.loads(response.text, strict=False)
    except ValueError:
        return response
    if not isinstance(value, dict):
        return response
    if isinstance(value.get("tool"), str):
        call = ToolCall("", value["tool"], value.get("arguments", {}))
        return replace(response, text="", tool_calls=(call,), finish_reason="tool_calls")
    answer = value.get("answer", response.text)
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    return replace(response, text=text)


def _offered(request: ModelRequest) -> tuple[ToolDefinition, ...]:
    if request.tool_choice in ("auto", "required"):
        return request.tools
    chosen = tuple(tool for tool in request.tools if tool.name == request.tool_choice)
    if request.tools and not chosen:
        raise UsageError(
            what="the request cannot be sent to the local model",
            why=f"its tool_choice is {request.tool_choice!r}, which is none of its tools",
            fix='write "auto", "required" or the name of a tool',
            code="invalid_request",
        )
    return chosen


def _plain(message: Message, names: Mapping[str, str]) -> Message:
    if message.pictures:
        raise UsageError(
            what="the request cannot be sent to the local model",
            why="it holds a picture, and local models read text only",
            fix="use a model that takes pictures, such as openai/gpt-4o-mini",
            code="unsupported_request",
        )
    if message.tool_calls:
        said = [{"tool": one.name, "arguments": one.arguments} for one in message.tool_calls]
        lines = [message.content, *(json.dumps(one, ensure_ascii=False) for one in said)]
        return Message(message.role, "\n".join(line for line in lines if line))
    if message.role == "tool":
        name = names.get(message.tool_call_id, "the tool")
        return Message("user", f"{name} returned:\n{message.content}")
    return Message(message.role, message.content)


def _told(tool: ToolDefinition) -> str:
    fields = tool.parameters.get("properties")
    required = tool.parameters.get("required")
    lines = [f"- {tool.name}: {' '.join(tool.description.split())}".rstrip(": ")]
    for name, field in (fields if isinstance(fields, Mapping) else {}).items():
        must = isinstance(required, list) and name in required
        lines.append(f"  - {name} ({_kind(field)}{'' if must else ', optional'}){_said(field)}")
    return "\n".join(lines)


def _kind(field: Any) -> str:
    if not isinstance(field, Mapping):
        return "any"
    if "enum" in field:
        return "one of " + ", ".join(json.dumps(one, ensure_ascii=False) for one in field["enum"])
    kind = field.get("type", "any")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def _said(field: Any) -> str:
    text = field.get("description") if isinstance(field, Mapping) else None
    return f": {' '.join(text.split())}" if isinstance(text, str) and text else ""


def _schema(request: ModelRequest, offered: tuple[ToolDefinition, ...]) -> dict[str, Json]:
    """One object out of: a call of each tool, and the answer where none must be called."""
    ways: list[Json] = [
        _object({"tool": {"const": tool.name}, "arguments": dict(tool.parameters)})
        for tool in offered
    ]
    if request.tool_choice == "auto":
        ways.append(_object({"answer": _answer(request)}))
    return {"anyOf": ways}


def _answer(request: ModelRequest) -> dict[str, Json]:
    if request.labels:
        return {"type": "string", "enum": list(request.labels)}
    return {"type": "string"} if request.schema is None else dict(request.schema)


def _object(properties: dict[str, Json]) -> dict[str, Json]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
