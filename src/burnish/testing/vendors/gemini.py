"""Fake Gemini: generateContent and its stream on loopback."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from burnish.domain import ModelResponse
from burnish.testing.vendors.server import Move, SeenRequest, raw
from burnish.testing.vendors.vendor import FakeVendor, token_estimate

_PATH = re.compile(r"/v1beta/models/[\w.%-]+:(generateContent|streamGenerateContent\?alt=sse)")
_TYPES = {
    "contents": ("Content", True),
    "systemInstruction": ("Content", False),
    "tools": ("Tool", True),
    "toolConfig": ("ToolConfig", False),
    "generationConfig": ("GenerationConfig", False),
    "safetySettings": ("SafetySetting", True),
}
_STATUSES = {400: "INVALID_ARGUMENT", 403: "PERMISSION_DENIED", 404: "NOT_FOUND"}
_REASONS = {
    "stop": "STOP",
    "tool_calls": "STOP",
    "length": "MAX_TOKENS",
    "content_filter": "SAFETY",
}
# Shorter prompts are not cached.
_LEAST_CACHED = 1024


class FakeGemini(FakeVendor):
    """Gemini as far as Burnish uses it. Prompts are cached by their prefix, as it does by itself.

    Calls of tools are signed, and a request that brings one back without its signature is refused.
    """

    sdk = "google.genai"
    prefix = "/v1beta"

    def filtering(self) -> Move:
        """The prompt is blocked: an answer without candidates."""
        told = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}
        return raw(json.dumps(told).encode())

    def key(self, headers: Mapping[str, str]) -> str:
        """In a header of its own."""
        return headers.get("x-goog-api-key", "")

    def kind(self, request: SeenRequest) -> tuple[str, str] | None:
        """Of the one API, as a whole or as a stream."""
        return ("google.genai.types", "") if _PATH.fullmatch(request.path) else None

    def parameters(self, request: SeenRequest) -> Mapping[str, Any]:
        """Those of the generation."""
        given: Mapping[str, Any] = request.body.get("generationConfig", {})
        return given

    def streams(self, request: SeenRequest) -> bool:
        """By the path."""
        return "alt=sse" in request.path

    def error(self, status: int, message: str, code: str, param: str) -> dict[str, Any]:
        """Google's form; a wrong key has a reason."""
        details = []
        if status == 401 or code == "invalid_api_key":
            details = [{"@type": "google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]
        word = _STATUSES.get(status, "UNAVAILABLE")
        return {"error": {"code": status, "message": message, "status": word, "details": details}}

    def unsupported(self, name: str, instead: str) -> Move:
        """The refusal of a parameter."""
        return self.failing(400, f"{name} is not supported by this model.")

    def encode(self, request: SeenRequest, response: ModelResponse) -> dict[str, Any]:
        """Generated content."""
        parts: list[dict[str, Any]] = [{"text": response.text}] if response.text else []
        for call in response.tool_calls:
            called = {"id": call.id, "name": call.name, "args": call.arguments}
            parts.append({"functionCall": called, "thoughtSignature": _signature(call.id)})
        candidate: dict[str, Any] = {
            "content": {"role": "model", "parts": parts},
            "finishReason": _REASONS.get(response.finish_reason, "STOP"),
            "index": 0,
        }
        if response.logprobs is not None:
            chosen = [
                {"token": one["token"], "logProbability": one["logprob"]}
                for one in response.logprobs
            ]
            candidate["logprobsResult"] = {"chosenCandidates": chosen}
        return {
            "candidates": [candidate],
            "usageMetadata": self._usage(request, response),
            "modelVersion": "fake",
        }

    def pieces(self, request: SeenRequest, body: Mapping[str, Any]) -> list[str]:
        """Texts letter by letter, then calls; the end has the reason."""
        candidate = body["candidates"][0]
        parts: list[Any] = []
        for part in candidate["content"]["parts"]:
            parts += [{"text": letter} for letter in part["text"]] if "text" in part else [part]
        ended = {**candidate, "content": {"role": "model", "parts": [{"text": ""}]}}
        told = [
            {"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}]}
            for part in parts
        ]
        return [f"data: {json.dumps(one)}\n" for one in (*told, {**body, "candidates": [ended]})]

    def _problem(self, kind: tuple[str, str], body: Any) -> str:
        unsigned = _unsigned(body)
        if unsigned:
            return f"Function call is missing a thought_signature: {unsigned}"
        try:
            types = import_module(kind[0])
        except ImportError:
            return ""
        unknown = set(body) - set(_TYPES)
        if unknown or not body.get("contents"):
            return f"Unknown name {', '.join(unknown)}" if unknown else "contents is not specified"
        try:
            for name, value in body.items():
                model, many = _TYPES[name]
                for one in value if many else [value]:
                    getattr(types, model).model_validate_json(json.dumps(one))
        except ValueError as error:
            return f"Invalid JSON payload: {error}"
        return ""

    def _usage(self, request: SeenRequest, response: ModelResponse) -> dict[str, int]:
        body = request.body
        prompt = [json.dumps(body[name]) for name in ("tools", "systemInstruction") if name in body]
        prompt += [json.dumps(one) for one in body["contents"]]
        prefixes = {"".join(prompt[: number + 1]) for number in range(len(prompt))}
        found = max((token_estimate(one) for one in prefixes & self.prompts), default=0)
        self.prompts |= prefixes
        return {
            "promptTokenCount": response.usage.input_tokens or token_estimate("".join(prompt)),
            "cachedContentTokenCount": found if found >= _LEAST_CACHED else 0,
            "candidatesTokenCount": response.usage.output_tokens or token_estimate(response.text),
        }


def _signature(call: str) -> str:
    """Base64, as signatures are."""
    return f"c2lnbmVk{call.encode().hex()}"


def _unsigned(body: Any) -> str:
    contents = body.get("contents", []) if isinstance(body, dict) else []
    parts = [part for content in contents for part in content.get("parts", [])]
    calls = [part for part in parts if "functionCall" in part]
    return next((one["functionCall"]["name"] for one in calls if "thoughtSignature" not in one), "")
