"""Bedrock model: the body of Converse and its answer; JSON by a tool that must be called."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from burnish.domain import Json, Message, ModelRequest, ModelResponse, Picture, Usage, UsageError
from burnish.models.bedrock.vendor import read_usage
from burnish.models.endpoint.answers import (
    Answer,
    kept_back,
    schema_words,
    storable_text,
    tool_calls_of,
)
from burnish.models.endpoint.model import EndpointModel
from burnish.models.endpoint.vendor import Stream, Vendor
from burnish.models.failures import (
    BadAnswerError,
    ErrorAnswer,
    clean_message,
    refuse_reserved,
)
from burnish.models.settings import ModelSettings
from burnish.models.tokens import count_message_tokens, count_tokens

_RESERVED = ("messages", "model", "modelId", "n", "stream", "system", "tools", "toolConfig")
_RENAMED = {
    "max_tokens": "maxTokens",
    "max_completion_tokens": "maxTokens",
    "temperature": "temperature",
    "top_p": "topP",
    "stop": "stopSequences",
}
# Beside inferenceConfig; everything else is the model's own.
_TOP_LEVEL = (
    *("guardrailConfig", "performanceConfig", "requestMetadata", "serviceTier", "outputConfig"),
    *("additionalModelRequestFields", "additionalModelResponseFieldPaths", "promptVariables"),
)
_PICTURES = ("png", "jpeg", "gif", "webp")
_ANSWER = "give_answer"
# Whose prompts are cached up to marks, and how a model says that it lets no tool be forced.
_CACHING = ("anthropic.claude", "amazon.nova")
_CACHE_POINT = {"cachePoint": {"type": "default"}}
_UNFORCED = ("toolchoice", "tool_choice", "tool use")
_INSTRUCTING = ("system", "developer")
_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "guardrail_intervened": "content_filter",
    "content_filtered": "content_filter",
    "refusal": "refusal",
}


class ConverseWire:
    """Converse, which is the same for the models of every maker.

    A schema is held by a tool that the model has to call; `forces_tools` is False for a model that lets
    none be forced, of which it is asked for in words. `caches` says whether cache points are set.
    """

    api = "converse"
    answers = "an answer of Converse"
    variant: tuple[Json, ...] = ()

    def __init__(self, model: str, settings: ModelSettings) -> None:
        self._model = model
        self._marks = settings.prompt_cache and any(maker in model for maker in _CACHING)
        self.caches = self._marks
        self.path = f"model/{quote(model, safe='')}/converse"
        self.forces_tools = True

    def body(self, request: ModelRequest) -> dict[str, Any]:
        """The JSON body; parameters that Converse does not name are the model's own."""
        refuse_reserved(request, _RESERVED)
        system = [{"text": one.content} for one in request.messages if _instructs(one)]
        if request.schema is not None and not self.forces_tools:
            system.append({"text": schema_words(request.schema)})
        messages = _messages(request.messages)
        if not messages:
            # The API wants a turn of the user, which a prompt of instructions alone has not.
            messages, system = [{"role": "user", "content": system}], []
        body = {
            "messages": messages,
            **({"system": system} if system else {}),
            **_tool_config(request, forced=self.forces_tools),
        }
        if self.caches:
            _mark_stable(body, tools="anthropic." in self._model)
        return body | _parameters(request.parameters)

    def learn(self, error: ErrorAnswer, request: ModelRequest) -> bool:
        """Whether the model knows no cache points, or lets no tool be forced."""
        said = error.message.lower()
        if self._marks and "cach" in said:
            self.caches = False
            return True
        if request.schema is None or not any(words in said for words in _UNFORCED):
            return False
        self.forces_tools = False
        return True

    def read(self, body: Mapping[str, Any], request: ModelRequest) -> Answer[ModelResponse]:
        """The response without its price. Missing usage is counted here."""
        output, reason = body.get("output"), body.get("stopReason")
        message = output.get("message") if isinstance(output, Mapping) else None
        content = message.get("content") if isinstance(message, Mapping) else None
        if not isinstance(content, list):
            raise BadAnswerError("it has no message in its output")
        if reason not in _REASONS:
            raise BadAnswerError(f"it stopped by {clean_message(str(reason))}")
        blocks = [block for block in content if isinstance(block, Mapping)]
        used = [block["toolUse"] for block in blocks if isinstance(block.get("toolUse"), Mapping)]
        given = [one for one in used if one.get("name") == _ANSWER]
        texts = [block["text"] for block in blocks if isinstance(block.get("text"), str)]
        text = storable_text(_given_text(given[0], request) if given else "".join(texts))
        calls = tool_calls_of(
            (one.get("toolUseId"), one.get("name"), one.get("input"))
            for one in used
            if one not in given
        )
        finish = "stop" if given and not calls and reason == "tool_use" else _REASONS[reason]
        told = read_usage(body) or Answer(None, self._counted(request, text))
        response = ModelResponse(text=text, finish_reason=finish, tool_calls=calls)
        return Answer(response, told.usage, cache_write_tokens=told.cache_write_tokens)

    def stream(self) -> Stream:
        """Never asked for: such settings are refused."""
        raise NotImplementedError

    def outcome(self, error: ErrorAnswer) -> ModelResponse | None:
        """An answer of Claude's that its filter kept back; what guardrails stop comes as an answer."""
        return kept_back(error)

    def _counted(self, request: ModelRequest, text: str) -> Usage:
        return Usage(
            calls=1,
            input_tokens=count_message_tokens(request.messages, self._model),
            output_tokens=count_tokens(text, self._model),
        )


class BedrockModel(EndpointModel):
    """`bedrock/MODEL-ID`."""

    def __init__(self, vendor: Vendor, name: str, settings: ModelSettings) -> None:
        super().__init__(vendor, ConverseWire, name, settings)


def _instructs(message: Message) -> bool:
    return message.role in _INSTRUCTING and bool(message.content.strip())


def _messages(messages: tuple[Message, ...]) -> list[dict[str, Any]]:
    """The conversation; roles must alternate, so blocks of one role stand together."""
    told: list[dict[str, Any]] = []
    for message in messages:
        if message.role in _INSTRUCTING:
            continue
        role = "assistant" if message.role == "assistant" else "user"
        blocks = _blocks(message)
        if told and told[-1]["role"] == role:
            told[-1]["content"] += blocks
        elif blocks:
            told.append({"role": role, "content": blocks})
    return told


def _blocks(message: Message) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = [{"text": message.content}] if message.content.strip() else []
    blocks += [_image(picture) for picture in message.pictures]
    if message.tool_call_id:
        # A result may be empty, but not absent.
        content = blocks or [{"text": " "}]
        return [{"toolResult": {"toolUseId": message.tool_call_id, "content": content}}]
    return blocks + [
        {
            "toolUse": {
                "toolUseId": call.id,
                "name": call.name,
                "input": call.arguments
                if isinstance(call.arguments, dict)
                else {"text": call.arguments},
            }
        }
        for call in message.tool_calls
    ]


def _image(picture: Picture) -> dict[str, Any]:
    kind = picture.media_type.removeprefix("image/").replace("jpg", "jpeg")
    if kind not in _PICTURES:
        raise UsageError(
            what="the request cannot be sent",
            why=f"Bedrock takes no pictures of the type {picture.media_type}",
            fix=f"use one of {', '.join(_PICTURES)}",
            code="unsupported_request",
        )
    return {"image": {"format": kind, "source": {"bytes": picture.data}}}


def _tool_config(request: ModelRequest, *, forced: bool) -> dict[str, Any]:
    tools = [(tool.name, tool.description, dict(tool.parameters)) for tool in request.tools]
    choice: dict[str, Any] = {"auto": {}}
    if request.schema is not None and forced:
        tools.append((_ANSWER, "Gives the answer.", _answer_schema(request.schema)))
        choice = {"any": {}} if request.tools else {"tool": {"name": _ANSWER}}
    if request.tools and request.tool_choice == "required":
        choice = {"any": {}}
    elif request.tools and request.tool_choice != "auto":
        choice = {"tool": {"name": request.tool_choice}}
    if not tools:
        return {}
    specs = [
        {
            "toolSpec": {
                "name": name,
                **({"description": description} if description else {}),
                "inputSchema": {"json": schema},
            }
        }
        for name, description, schema in tools
    ]
    return {"toolConfig": {"tools": specs, "toolChoice": choice}}


def _mark_stable(body: dict[str, Any], *, tools: bool) -> None:
    """Cache points behind what the next request is likely to begin with.

    Those are tools, instructions, and what was said before the last turn; after a tool's answer it is
    all of it, because the next step goes on from there.
    """
    if tools and "toolConfig" in body:
        body["toolConfig"]["tools"].append(_CACHE_POINT)
    if "system" in body:
        body["system"].append(_CACHE_POINT)
    turns = body["messages"]
    stable = turns if "toolResult" in turns[-1]["content"][-1] else turns[:-1]
    if stable:
        stable[-1]["content"].append(_CACHE_POINT)


def _answer_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """What the tool takes: an object, so anything else is its only field."""
    if schema.get("type") == "object":
        return dict(schema)
    return {"type": "object", "properties": {_ANSWER: dict(schema)}, "required": [_ANSWER]}


def _given_text(use: Mapping[str, Any], request: ModelRequest) -> str:
    given, schema = use.get("input"), request.schema or {}
    if schema.get("type") != "object" and isinstance(given, Mapping):
        given = given.get(_ANSWER)
    return json.dumps(given, ensure_ascii=False)


def _parameters(given: Mapping[str, Json]) -> dict[str, Any]:
    inference: dict[str, Json] = {}
    own: dict[str, Json] = {}
    beside: dict[str, Any] = {}
    for name, value in given.items():
        if name in _TOP_LEVEL:
            beside[name] = value
        elif theirs := _RENAMED.get(name):
            inference[theirs] = [value] if name == "stop" and isinstance(value, str) else value
        else:
            own[name] = value
    if inference:
        beside["inferenceConfig"] = inference
    if own:
        more = beside.get("additionalModelRequestFields")
        beside["additionalModelRequestFields"] = {**(more or {}), **own}
    return beside
