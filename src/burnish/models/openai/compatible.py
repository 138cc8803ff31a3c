"""OpenAI-compatible models: a preset's service as a vendor, and the chat API with its differences."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import quote

from burnish.domain import Model, ModelRequest, UsageError
from burnish.models.endpoint.answers import schema_words
from burnish.models.endpoint.model import EndpointModel
from burnish.models.endpoint.vendor import Vendor, bearer, read_error
from burnish.models.openai.chat import ChatWire
from burnish.models.openai.presets import PRESETS, Preset
from burnish.models.openai.responses import ResponsesWire
from burnish.models.openai.vendor import OPENAI
from burnish.models.settings import ModelSettings

# The variable of OpenAI's own client that has Azure's dated API spoken.
_AZURE_VERSION = "OPENAI_API_VERSION"


def open_compatible(provider: str, name: str, settings: ModelSettings) -> Model:
    """The model `PROVIDER/NAME` of a preset."""
    preset = PRESETS[provider]
    if settings.input_price is None and preset.runs_here(name, settings.base_url):
        settings = replace(settings, input_price=0.0, output_price=0.0)
    version = os.environ.get(_AZURE_VERSION, "").strip() if provider == "azure" else ""
    dated = version and settings.base_url is None and settings.api == "chat"
    path = f"/openai/deployments/{quote(name, safe='')}" if dated else preset.path
    vendor = _vendor(provider, preset, path, settings)
    if settings.api == "responses":
        return EndpointModel(vendor, partial(_responses_wire, preset), name, settings)
    query = f"?api-version={quote(version, safe='')}" if dated else ""
    return EndpointModel(vendor, partial(CompatibleWire, preset, query), name, settings)


def _responses_wire(preset: Preset, name: str, settings: ModelSettings) -> ResponsesWire:
    return ResponsesWire(preset.full_name(name), settings)


def _vendor(provider: str, preset: Preset, path: str, settings: ModelSettings) -> Vendor:
    return Vendor(
        provider=provider,
        address=preset.address or _own_address(provider, preset, path, settings),
        key_env=preset.key_env,
        needs_key=not preset.local,
        prices=preset.billed_as,
        headers=_azure_headers if provider == "azure" else bearer,
        read_error=_read_error,
        read_usage=OPENAI.read_usage,
    )


def _read_error(content: bytes) -> Mapping[str, Any]:
    """As OpenAI tells it, or in the forms of others: a text, or a list of problems."""
    said = dict(read_error(content))
    if not said:
        with suppress(ValueError, RecursionError, AttributeError):
            said = {"message": json.loads(content).get("error")}
    told = said.get("message") or said.get("detail") or ""
    return {**said, "message": told if isinstance(told, str) else json.dumps(told)}


def _own_address(provider: str, preset: Preset, path: str, settings: ModelSettings) -> str:
    """That of a customer's own resource, from the environment."""
    given = os.environ.get(preset.address_env, "").strip().rstrip("/")
    if not given and settings.base_url is None:
        raise UsageError(
            what=f"{provider} cannot be used",
            why=f"the environment variable {preset.address_env} is not set",
            fix=f"put the address of your resource into {preset.address_env}, or set base_url in "
            f"[models.{provider}]",
            code="missing_address",
        )
    if given:
        ModelSettings(base_url=given)  # It is shown in messages, so it is checked like a setting.
    return given.removesuffix(preset.path) + path


def _azure_headers(key: str) -> Mapping[str, str]:
    return {"api-key": key}


class CompatibleWire(ChatWire):
    """The chat API as a preset's service speaks it."""

    def __init__(self, preset: Preset, query: str, model: str, settings: ModelSettings) -> None:
        grammar = settings.grammar or preset.grammar
        super().__init__(preset.full_name(model), replace(settings, grammar=grammar))
        self.path = ChatWire.path + query
        self._preset = preset

    def body(self, request: ModelRequest) -> dict[str, Any]:
        """The JSON body, by the names that the service has, without what it lacks."""
        preset = self._preset
        body = super().body(request)
        if not preset.stream_options:
            body.pop("stream_options", None)
        for ours, theirs in preset.renames.items():
            if ours in body:
                body.setdefault(theirs, body.pop(ours))
        if request.schema is not None and not preset.json_schema:
            body["response_format"] = {"type": "json_object"}
            body["messages"] = _with_schema(body["messages"], request.schema)
        return body


def _with_schema(messages: list[dict[str, Any]], schema: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The schema in words, at the end of the system message; the text before it stays a prefix."""
    words = schema_words(schema)
    if messages and messages[0]["role"] == "system":
        first = {**messages[0], "content": f"{messages[0]['content']}\n\n{words}"}
        return [first, *messages[1:]]
    return [{"role": "system", "content": words}, *messages]
