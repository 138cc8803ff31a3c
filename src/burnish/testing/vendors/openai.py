"""Fake OpenAI: the chat and the Responses API on loopback."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from burnish.domain import ModelResponse, ToolCall
from burnish.testing.vendors.server import Move, SeenRequest
from burnish.testing.vendors.vendor import FakeVendor, token_estimate

_CHAT, _RESPONSES = "/v1/chat/completions", "/v1/responses"
_TYPES = {
    _CHAT: ("openai.types.chat.completion_create_params", "CompletionCreateParams"),
    _RESPONSES: ("openai.types.responses.response_create_params", "ResponseCreateParams"),
}
# Shorter prompts are not cached.
_LEAST_CACHED = 1024
_INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}


class FakeOpenAI(FakeVendor):
    """OpenAI as far as Burnish uses it. Prompts of 1024 tokens and more are cached by their prefix."""

    def filtering(self) -> Move:
        """As Azure tells it."""
        return self.failing(400, "The prompt was filtered", "content_filter", "prompt")

    def kind(self, request: SeenRequest) -> tuple[str, str] | None:
        """Of the two APIs."""
        return _TYPES.get(request.path)

    def error(self, status: int, message: str, code: str, param: str) -> dict[str, Any]:
        """Message, type, code and param."""
        kind = "invalid_request_error" if status < 500 else "server_error"
        told = {"message": message, "type": kind, "code": code or None, "param": param or None}
        return {"error": told}

    def encode(self, request: SeenRequest, response: ModelResponse) -> dict[str, Any]:
        """A completion or a response."""
        return (_completion if request.path == _CHAT else _response)(
            request, response, self._usage(request, response)
        )

    def pieces(self, request: SeenRequest, body: Mapping[str, Any]) -> list[str]:
        """Chunks of a completion, or events of a response."""
        if request.path == _CHAT:
            return [f"data: {one}\n" for one in (*map(json.dumps, _chunks(body)), "[DONE]")]
        begun = {"type": "response.created", "response": {**body, "output": []}}
        parts = [part for item in body["output"] for part in item.get("content", ())]
        texts = [part["text"] for part in parts if part["type"] == "output_text"]
        deltas = [{"type": "response.output_text.delta", "delta": text} for text in texts]
        events = [begun, *deltas, {"type": f"response.{body['status']}", "response": body}]
        return [f"event: {one['type']}\ndata: {json.dumps(one)}\n" for one in events]

    def _usage(self, request: SeenRequest, response: ModelResponse) -> dict[str, int]:
        messages = request.body.get("messages", request.body.get("input"))
        written = response.usage.output_tokens or token_estimate(response.text)
        read = response.usage.input_tokens or token_estimate(messages)
        cached, prefix = 0, json.dumps(request.body.get("tools", []))
        for message in messages if isinstance(messages, list) else []:
            prefix += json.dumps(message)
            if prefix in self.prompts and token_estimate(prefix) >= _LEAST_CACHED:
                cached = token_estimate(prefix)
            self.prompts.add(prefix)
        return {"read": read, "written": written, "cached": min(cached, read)}


def _completion(
    request: SeenRequest, response: ModelResponse, usage: Mapping[str, int]
) -> dict[str, Any]:
    refused = response.finish_reason == "refusal"
    message: dict[str, Any] = {
        "role": "assistant",
        "content": None if refused or response.tool_calls else response.text,
        "refusal": response.text if refused else None,
    }
    if response.tool_calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": _function(call)}
            for call in response.tool_calls
        ]
    reason = "tool_calls" if response.tool_calls else response.finish_reason
    choice: dict[str, Any] = {
        "index": 0,
        "message": message,
        "finish_reason": "stop" if refused else reason,
        "logprobs": None,
    }
    if request.body.get("logprobs") and response.logprobs is not None:
        choice["logprobs"] = {"content": [dict(one) for one in response.logprobs]}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": request.body["model"],
        "choices": [choice],
        "usage": {
            "prompt_tokens": usage["read"],
            "completion_tokens": usage["written"],
            "total_tokens": usage["read"] + usage["written"],
            "prompt_tokens_details": {"cached_tokens": usage["cached"]},
        },
    }


def _chunks(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The text letter by letter, and the arguments of each call in two halves."""
    choice = body["choices"][0]
    message = choice["message"]
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": letter} for letter in message["content"] or ""]
    deltas += [{"refusal": letter} for letter in message["refusal"] or ""]
    for index, call in enumerate(message.get("tool_calls", ())):
        text = call["function"]["arguments"]
        begun = {**call, "function": {**call["function"], "arguments": text[: len(text) // 2]}}
        deltas.append({"tool_calls": [{"index": index, **begun}]})
        rest = {"index": index, "function": {"arguments": text[len(text) // 2 :]}}
        deltas.append({"tool_calls": [rest]})
    head = {"id": body["id"], "object": "chat.completion.chunk", "created": 0}
    head["model"] = body["model"]
    chunks = [{**head, "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    chunks[0]["choices"][0]["logprobs"] = choice["logprobs"]
    end = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
    return [
        *chunks,
        {**head, "choices": [end]},
        {**head, "choices": [], "usage": body["usage"]},
    ]


def _response(
    request: SeenRequest, response: ModelResponse, usage: Mapping[str, int]
) -> dict[str, Any]:
    refused = response.finish_reason == "refusal"
    part: dict[str, Any] = (
        {"type": "refusal", "refusal": response.text}
        if refused
        else {"type": "output_text", "text": response.text, "annotations": []}
    )
    if "include" in request.body and response.logprobs is not None:
        part["logprobs"] = [dict(one) for one in response.logprobs]
    message = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }
    calls = [
        {"type": "function_call", "id": f"fc_{call.id}", "call_id": call.id, **_function(call)}
        for call in response.tool_calls
    ]
    cut = _INCOMPLETE.get(response.finish_reason)
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 0,
        "model": request.body["model"],
        "status": "incomplete" if cut else "completed",
        "incomplete_details": {"reason": cut} if cut else None,
        "error": None,
        "output": [*([message] if response.text else []), *calls],
        "usage": {
            "input_tokens": usage["read"],
            "output_tokens": usage["written"],
            "total_tokens": usage["read"] + usage["written"],
            "input_tokens_details": {"cached_tokens": usage["cached"]},
        },
    }


def _function(call: ToolCall) -> dict[str, Any]:
    given = call.arguments
    return {"name": call.name, "arguments": given if isinstance(given, str) else json.dumps(given)}
