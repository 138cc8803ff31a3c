"""Fake Bedrock: Converse on loopback."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import lru_cache
from itertools import pairwise
from typing import Any
from urllib.parse import unquote

from burnish.domain import ModelResponse
from burnish.testing.vendors.server import Move, SeenRequest, raw
from burnish.testing.vendors.vendor import FakeVendor, token_estimate

_PATH = re.compile(r"/model/([\w.%-]+)/converse")
_REASONS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "content_filtered",
}
# Shorter prompts are not cached.
_LEAST_CACHED = 1024


class FakeBedrock(FakeVendor):
    """Converse as far as Burnish uses it; prompts are cached up to their marks.

    Requests are checked against botocore's model of the API.
    """

    sdk = "botocore"
    prefix = ""

    def filtering(self) -> Move:
        """A guardrail intervenes: an answer with its words."""
        told = _answer([{"text": "Blocked."}], "guardrail_intervened")
        return raw(json.dumps(told).encode())

    def kind(self, request: SeenRequest) -> tuple[str, str] | None:
        """Of the one API; the model's id is in the path."""
        found = _PATH.fullmatch(request.path)
        return None if found is None else ("botocore", unquote(found[1]))

    def parameters(self, request: SeenRequest) -> Mapping[str, Any]:
        """Those of the inference, and the model's own."""
        own: Mapping[str, Any] = request.body.get("additionalModelRequestFields", {})
        return {**request.body.get("inferenceConfig", {}), **own}

    def error(self, status: int, message: str, code: str, param: str) -> dict[str, Any]:
        """A message; its type would be in a header."""
        return {"message": message}

    def unsupported(self, name: str, instead: str) -> Move:
        """The refusal of a parameter."""
        return self.failing(400, f"The model does not support the parameter {name}: not supported.")

    def encode(self, request: SeenRequest, response: ModelResponse) -> dict[str, Any]:
        """A message; where a tool is forced, its call."""
        blocks: list[dict[str, Any]] = [{"text": response.text}] if response.text else []
        used = [
            {"toolUseId": one.id, "name": one.name, "input": one.arguments}
            for one in response.tool_calls
        ]
        forced = _forced(request.body, response)
        if forced is not None and not used:
            blocks, used = [], [forced]
        reason = "tool_calls" if used else response.finish_reason
        body = _answer(
            [*blocks, *({"toolUse": one} for one in used)], _REASONS.get(reason, "end_turn")
        )
        return {**body, "usage": self._usage(request, response)}

    def _usage(self, request: SeenRequest, response: ModelResponse) -> dict[str, int]:
        prefix, marked, found = "", "", ""
        for block in _prompt(request.body):
            if "cachePoint" in block:
                marked, found = prefix, prefix if prefix in self.prompts else found
                self.prompts.add(prefix)
            else:
                prefix += json.dumps(block)
        sizes = [token_estimate(one) for one in (marked, found)]
        kept, cached = (size if size >= _LEAST_CACHED else 0 for size in sizes)
        read = response.usage.input_tokens or token_estimate(prefix)
        written = response.usage.output_tokens or token_estimate(response.text)
        return {
            "inputTokens": max(0, read - max(kept, cached)),
            "cacheReadInputTokens": cached,
            "cacheWriteInputTokens": max(0, kept - cached),
            "outputTokens": written,
            "totalTokens": read + written,
        }

    def _problem(self, kind: tuple[str, str], body: Any) -> str:
        try:
            from botocore.validate import ParamValidator  # noqa: PLC0415
        except ImportError:
            return ""
        given = {"modelId": kind[1], **_with_bytes(deepcopy(body))}
        report = ParamValidator().validate(given, _shape())
        if report.has_errors():
            return str(report.generate_report())
        roles = [message["role"] for message in body["messages"]]
        alternate = all(one != other for one, other in pairwise(roles))
        return "" if alternate and roles[0] == "user" else "roles must alternate from user on"


def _answer(blocks: list[dict[str, Any]], reason: str) -> dict[str, Any]:
    return {
        "output": {"message": {"role": "assistant", "content": blocks}},
        "stopReason": reason,
        "usage": {"inputTokens": 5, "outputTokens": 2, "totalTokens": 7},
        "metrics": {"latencyMs": 1},
    }


def _prompt(body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """All blocks in the order in which they are cached."""
    yield from body.get("toolConfig", {}).get("tools", ())
    yield from body.get("system", ())
    for turn in body["messages"]:
        yield from turn["content"]


@lru_cache
def _shape() -> Any:
    from botocore.session import Session  # noqa: PLC0415

    service = Session().get_service_model("bedrock-runtime")
    return service.operation_model("Converse").input_shape


def _with_bytes(value: Any) -> Any:
    """Pictures as bytes, which JSON has in base64."""
    if isinstance(value, dict):
        if set(value) == {"bytes"}:
            return {"bytes": base64.b64decode(value["bytes"], validate=True)}
        return {name: _with_bytes(inner) for name, inner in value.items()}
    return [_with_bytes(inner) for inner in value] if isinstance(value, list) else value


def _forced(body: Mapping[str, Any], response: ModelResponse) -> dict[str, Any] | None:
    """The call of the tool that has to be called, with the scripted text as its input."""
    config = body.get("toolConfig", {})
    name = config.get("toolChoice", {}).get("tool", {}).get("name")
    if name is None or response.finish_reason != "stop":
        return None
    specs = [one["toolSpec"] for one in config["tools"] if "toolSpec" in one]
    spec = next(one for one in specs if one["name"] == name)
    try:
        given = json.loads(response.text)
    except ValueError:
        given = response.text
    if not isinstance(given, dict):
        given = {next(iter(spec["inputSchema"]["json"]["properties"])): given}
    return {"toolUseId": "tooluse_1", "name": name, "input": given}
