"""Fake Anthropic: the Messages API on loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from burnish.domain import ModelResponse
from burnish.testing.vendors.server import Move, SeenRequest
from burnish.testing.vendors.vendor import FakeVendor, token_estimate

_PATH = "/v1/messages"
_REASONS = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use"}
_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}
# Shorter prompts are not cached.
_LEAST_CACHED = 1024


class FakeAnthropic(FakeVendor):
    """Anthropic as far as Burnish uses it. Prompts are cached up to their marks."""

    prefix = ""
    # Older models take these.
    beyond_types = ("temperature", "top_k", "top_p")

    def filtering(self) -> Move:
        """As the API tells it."""
        return self.failing(400, "Output blocked by content filtering policy")

    def key(self, headers: Mapping[str, str]) -> str:
        """In a header of its own."""
        return headers.get("x-api-key", "")

    def kind(self, request: SeenRequest) -> tuple[str, str] | None:
        """Of the one API."""
        if request.path != _PATH or "anthropic-version" not in request.headers:
            return None
        return "anthropic.types.message_create_params", "MessageCreateParams"

    def error(self, status: int, message: str, code: str, param: str) -> dict[str, Any]:
        """A type and a message, which names the parameter if there is one."""
        kind = _TYPES.get(status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}

    def unsupported(self, name: str, instead: str) -> Move:
        """The refusal of a parameter."""
        return self.failing(400, f"`{name}` is deprecated for this model.")

    def encode(self, request: SeenRequest, response: ModelResponse) -> dict[str, Any]:
        """A message; where a tool is forced, its call."""
        content: list[dict[str, Any]] = []
        if request.body.get("thinking", {}).get("type", "disabled") != "disabled":
            content.append({"type": "thinking", "thinking": "Hm.", "signature": "signed"})
        calls = [
            {"type": "tool_use", "id": one.id, "name": one.name, "input": one.arguments}
            for one in response.tool_calls
        ]
        forced = self._forced(request, response)
        if forced and not calls and response.finish_reason == "stop":
            calls = [forced]
        elif response.text:
            content.append({"type": "text", "text": response.text})
        reason = "tool_calls" if calls else response.finish_reason
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": request.body["model"],
            "content": [*content, *calls],
            "stop_reason": _REASONS.get(reason, reason),
            "stop_sequence": None,
            "usage": self._usage(request, response),
        }

    def pieces(self, request: SeenRequest, body: Mapping[str, Any]) -> list[str]:
        """The events of a message, its texts letter by letter."""
        return [f"event: {one['type']}\ndata: {json.dumps(one)}\n" for one in _events(body)]

    def _forced(self, request: SeenRequest, response: ModelResponse) -> dict[str, Any] | None:
        """The call of the tool that has to be called, with the scripted text as its arguments."""
        choice = request.body.get("tool_choice", {})
        if choice.get("type") != "tool":
            return None
        tool = next(one for one in request.body["tools"] if one["name"] == choice["name"])
        fields = list(tool["input_schema"].get("properties", {}))
        try:
            given = json.loads(response.text)
        except ValueError:
            given = response.text
        if not isinstance(given, dict):
            given = {fields[0]: given}
        return {"type": "tool_use", "id": "toolu_1", "name": tool["name"], "input": given}

    def _usage(self, request: SeenRequest, response: ModelResponse) -> dict[str, int]:
        body, prefix, marked, found = request.body, "", "", ""
        for block in _prompt(body):
            mark = block.pop("cache_control", None)
            prefix += json.dumps(block)
            if mark:
                marked, found = prefix, prefix if prefix in self.prompts else found
                self.prompts.add(prefix)
        read = response.usage.input_tokens or token_estimate(prefix)
        cached = token_estimate(found) if token_estimate(found) >= _LEAST_CACHED else 0
        kept = token_estimate(marked) if token_estimate(marked) >= _LEAST_CACHED else 0
        return {
            "input_tokens": max(0, read - max(kept, cached)),
            "cache_read_input_tokens": cached,
            "cache_creation_input_tokens": max(0, kept - cached),
            "output_tokens": response.usage.output_tokens or token_estimate(response.text),
        }


def _prompt(body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Copies of all blocks in the order in which they are cached."""
    for name in ("tools", "system"):
        given = body.get(name) or []
        yield from (
            ({"type": "text", "text": given},) if isinstance(given, str) else map(dict, given)
        )
    for turn in body["messages"]:
        given = turn["content"]
        yield from (
            ({"type": "text", "text": given},) if isinstance(given, str) else map(dict, given)
        )


def _events(body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    begun = {**body["usage"], "output_tokens": 1}
    yield {
        "type": "message_start",
        "message": {**body, "content": [], "stop_reason": None, "usage": begun},
    }
    for index, block in enumerate(body["content"]):
        empty, deltas = _pieces(block)
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    end = {"stop_reason": body["stop_reason"], "stop_sequence": None}
    written = {"output_tokens": body["usage"]["output_tokens"]}
    yield {"type": "message_delta", "delta": end, "usage": written}
    yield {"type": "message_stop"}


def _pieces(block: Mapping[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A block as it begins, and what is added to it."""
    if block["type"] == "text":
        deltas = [{"type": "text_delta", "text": letter} for letter in block["text"]]
        return {"type": "text", "text": ""}, deltas
    if block["type"] == "thinking":
        thought = {"type": "thinking_delta", "thinking": block["thinking"]}
        signature = {"type": "signature_delta", "signature": block["signature"]}
        return {"type": "thinking", "thinking": "", "signature": ""}, [thought, signature]
    text = json.dumps(block["input"])
    halves = [text[: len(text) // 2], text[len(text) // 2 :]]
    deltas = [{"type": "input_json_delta", "partial_json": half} for half in halves]
    return {**block, "input": {}}, deltas
