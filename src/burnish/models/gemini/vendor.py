"""Gemini as a vendor: address, key, tokens, and errors in Google's form."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from burnish.domain import Model, Usage
from burnish.models.endpoint.answers import Answer, token_count
from burnish.models.endpoint.model import EndpointModel
from burnish.models.endpoint.vendor import MakeWire, Vendor
from burnish.models.failures import NO_QUOTA
from burnish.models.settings import ModelSettings

if TYPE_CHECKING:
    from burnish.models.batches.endpoint import BatchEndpoint

_KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
# Reasons and quotas as shared errors know them.
_BAD_KEYS = ("API_KEY_INVALID", "API_KEY_EXPIRED")
_PER_DAY = "PerDay"


def open_gemini(name: str, settings: ModelSettings) -> Model:
    """The model `gemini/NAME`; its key is in GEMINI_API_KEY, else in GOOGLE_API_KEY."""
    from burnish.models.gemini.wire import GeminiWire  # noqa: PLC0415

    return EndpointModel(_vendor(), GeminiWire, name, settings)


def _open_batches(
    vendor: Vendor, wire: MakeWire, name: str, settings: ModelSettings
) -> BatchEndpoint:
    from burnish.models.gemini.batches import GeminiBatches  # noqa: PLC0415

    return GeminiBatches(vendor, wire, name, settings)


def read_usage(body: Mapping[str, Any]) -> Usage | None:
    """Tokens without their price, thoughts among the output; None when the answer doesn't tell."""
    given = body.get("usageMetadata")
    if not isinstance(given, Mapping):
        return None
    read = token_count(given.get("promptTokenCount"))
    if read is None:
        return None
    written, thought, tools, cached = (
        token_count(given.get(name)) or 0
        for name in (
            "candidatesTokenCount",
            "thoughtsTokenCount",
            "toolUsePromptTokenCount",
            "cachedContentTokenCount",
        )
    )
    return Usage(
        calls=1,
        input_tokens=read + tools,
        output_tokens=written + thought,
        cached_tokens=min(cached, read),
    )


def read_error(content: bytes) -> Mapping[str, Any]:
    """What an answer says went wrong; a stream's error comes in a list."""
    try:
        said = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    first = said[0] if isinstance(said, list) and said else said
    error = first.get("error") if isinstance(first, Mapping) else None
    if not isinstance(error, Mapping):
        return {}
    told = error.get("details")
    details = [one for one in told if isinstance(one, Mapping)] if isinstance(told, list) else []
    return {
        "message": error.get("message"),
        "code": _code(details) or error.get("status"),
        "retry_after": _delay(details),
    }


def _code(details: list[Mapping[str, Any]]) -> str:
    if any(detail.get("reason") in _BAD_KEYS for detail in details):
        return "invalid_api_key"
    violations = [one for detail in details for one in _listed(detail.get("violations"))]
    # Waiting until tomorrow is no retry.
    daily = any(_PER_DAY in str(one.get("quotaId", "")) for one in violations)
    return NO_QUOTA if daily else ""


def _listed(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _delay(details: list[Mapping[str, Any]]) -> str | None:
    """Seconds, such as "34"; Google writes them with an s."""
    given = next((one["retryDelay"] for one in details if "retryDelay" in one), None)
    return given.removesuffix("s") if isinstance(given, str) else None


def _wasted(body: Mapping[str, Any]) -> Answer[None] | None:
    usage = read_usage(body)
    return None if usage is None else Answer(None, usage)


def _headers(key: str) -> Mapping[str, str]:
    return {"x-goog-api-key": key}


def _vendor() -> Vendor:
    return Vendor(
        provider="gemini",
        address="https://generativelanguage.googleapis.com/v1beta",
        key_env=next((name for name in _KEYS if os.environ.get(name, "").strip()), _KEYS[0]),
        prices="google",
        speaks="Gemini's API",
        headers=_headers,
        read_error=read_error,
        read_usage=_wasted,
        batches=_open_batches,
    )
