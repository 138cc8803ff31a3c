"""OpenAI as a vendor: address, key, headers, tokens, and errors that are outcomes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from burnish.domain import ModelResponse, Usage
from burnish.models.endpoint.answers import Answer, token_count
from burnish.models.endpoint.vendor import MakeWire, Vendor, bearer
from burnish.models.failures import ErrorAnswer
from burnish.models.settings import ModelSettings

if TYPE_CHECKING:
    from burnish.models.batches.endpoint import BatchEndpoint

# Headers by which OpenAI bills an organisation or a project, from the variables of its own clients.
_BILLED = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
_FILTERED = ("content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation")


def headers(key: str) -> dict[str, str]:
    """The key, and whom to bill."""
    billed = {header: os.environ.get(name, "").strip() for header, name in _BILLED.items()}
    return {**bearer(key), **{header: value for header, value in billed.items() if value}}


def read_usage(body: Mapping[str, Any]) -> Usage | None:
    """Tokens without their price, by the names of either API; None when the answer doesn't tell."""
    found = read_tokens(body)
    return None if found is None else found.usage


def read_tokens(body: Mapping[str, Any]) -> Answer[None] | None:
    """The same, with those that the vendor keeps for later requests."""
    given = body.get("usage")
    if not isinstance(given, Mapping):
        return None
    read = token_count(given.get("input_tokens", given.get("prompt_tokens")))
    written = token_count(given.get("output_tokens", given.get("completion_tokens")))
    if read is None or written is None:
        return None
    told = given.get("input_tokens_details", given.get("prompt_tokens_details"))
    details = told if isinstance(told, Mapping) else {}
    cached = token_count(details.get("cached_tokens")) or 0
    usage = Usage(calls=1, input_tokens=read, output_tokens=written, cached_tokens=cached)
    return Answer(
        None, usage, cache_write_tokens=token_count(details.get("cache_write_tokens")) or 0
    )


def filtered(error: ErrorAnswer) -> ModelResponse | None:
    """The outcome of a prompt that a filter stopped, which endpoints tell as a bad request."""
    flagged = error.code == "invalid_prompt" and "flagged" in error.message
    if error.code not in _FILTERED and not flagged:
        return None
    return ModelResponse(text="", finish_reason="content_filter")


def open_batches(
    vendor: Vendor, wire: MakeWire, name: str, settings: ModelSettings
) -> BatchEndpoint:
    """OpenAI's batches, which some others have too."""
    from burnish.models.openai.batches import OpenAIBatches  # noqa: PLC0415 - seldom needed

    return OpenAIBatches(vendor, wire, name, settings)


OPENAI = Vendor(
    provider="openai",
    address="https://api.openai.com/v1",
    address_env="OPENAI_BASE_URL",
    key_env="OPENAI_API_KEY",
    headers=headers,
    read_usage=read_tokens,
    batches=open_batches,
)
