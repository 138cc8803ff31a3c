"""What goes over the wire to OpenAI's Responses API, and how its answer is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from burnish.domain import Json, ModelRequest, Usage, UsageError
from burnish.models.failures import BadAnswerError
from burnish.models.openai.chat_wire import token_count

# What we set ourselves, or could not read the answer of.
_RESERVED = ("input", "model", "text", "stream", "store", "background", "messages", "n")
# Chat's names for what this API calls otherwise.
_RENAMED = {"max_tokens": "max_output_tokens", "max_completion_tokens": "max_output_tokens"}


def responses_body(model: str, request: ModelRequest) -> dict[str, Any]:
    """The JSON body of a response; nothing of it is kept on the other side."""
    for name in _RESERVED:
        if name in request.parameters:
            raise UsageError(
                what=f"the parameter {name!r} cannot be used",
                why="Burnish sets it itself",
                fix="remove it from the parameters (for several answers use repeats)",
                code="unsupported_parameter",
            )
    body: dict[str, Any] = {
        "model": model,
        "input": [message.to_json() for message in request.messages],
        "store": False,
    }
    if request.schema is not None:
        body["text"] = {"format": strict_format("answer", request.schema)}
    given = {_RENAMED.get(name, name): value for name, value in request.parameters.items()}
    return {**body, **given}


def strict_format(name: str, schema: Mapping[str, Json]) -> dict[str, Any]:
    """The form of a strict JSON answer, for which every object must be closed."""
    return {"type": "json_schema", "name": name, "strict": True, "schema": _closed(dict(schema))}


def read_response_text(body: Mapping[str, Any]) -> str:
    """All text of the answer; BadAnswerError when there is none. A refusal is text too."""
    output = body.get("output")
    parts = [
        part
        for item in (output if isinstance(output, list) else [])
        if isinstance(item, Mapping) and isinstance(item.get("content"), list)
        for part in item["content"]
        if isinstance(part, Mapping)
    ]
    texts = [part.get("text", part.get("refusal")) for part in parts]
    said = [text for text in texts if isinstance(text, str)]
    if not said:
        raise BadAnswerError("it has no text in its output")
    # Half a surrogate pair is legal in JSON, but no database stores it.
    return "".join(said).encode("utf-8", "replace").decode("utf-8")


def read_response_usage(body: Mapping[str, Any]) -> Usage | None:
    """Tokens without their price; None when the answer doesn't tell."""
    given = body.get("usage")
    if not isinstance(given, Mapping):
        return None
    read, written = token_count(given.get("input_tokens")), token_count(given.get("output_tokens"))
    if read is None or written is None:
        return None
    details = given.get("input_tokens_details")
    cached = token_count(details.get("cached_tokens")) if isinstance(details, Mapping) else None
    return Usage(calls=1, input_tokens=read, output_tokens=written, cached_tokens=cached or 0)


def _closed(value: Any) -> Any:
    """The schema with every object closed and complete, as strict answers want it."""
    if isinstance(value, list):
        return [_closed(one) for one in value]
    if not isinstance(value, Mapping):
        return value
    inner = {key: _closed(one) for key, one in value.items()}
    properties = inner.get("properties")
    if inner.get("type") == "object" and isinstance(properties, dict):
        inner["additionalProperties"] = False
        inner["required"] = list(properties)
    return inner
