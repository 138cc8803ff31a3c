"""Anthropic model: the Messages API, with answers by schema, tools, thinking and cache points."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from burnish.domain import Clock, Json, Message, ModelRequest, ModelResponse, Usage, UsageError
from burnish.models.endpoint.answers import (
    Answer,
    counted_tokens,
    kept_back,
    parse_body,
    storable_text,
    token_count,
    tool_calls_of,
)
from burnish.models.endpoint.model import EndpointModel
from burnish.models.endpoint.vendor import MakeWire, Vendor, read_error
from burnish.models.failures import (
    NO_QUOTA,
    BadAnswerError,
    ErrorAnswer,
    clean_message,
    refuse_reserved,
)
from burnish.models.settings import ModelSettings

if TYPE_CHECKING:
    from burnish.models.batches.endpoint import BatchEndpoint

_RESERVED = ("messages", "model", "system", "stream", "tools", "tool_choice", "n")
# The API wants a limit; what is not written is not paid for.
_MAX_TOKENS = 8192
_ANSWER = "answer"
_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
}
_PICTURES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_CACHED = {"cache_control": {"type": "ephemeral"}}
_THOUGHTS = ("thinking", "redacted_thinking")
_EFFORTS = {"minimal": "low"}


class MessagesWire:
    """The Messages API. Labels and schemas are held by a tool that the model has to call.

    Where the model thinks, or has other tools, no tool can be forced: a schema is asked for as the
    form of the output then.
    """

    api = "messages"
    answers = "a message"
    path = "v1/messages"
    variant: tuple[Json, ...] = ()

    def __init__(self, model: str, settings: ModelSettings) -> None:
        self._model = model
        self._stream = settings.stream
        self._caches = settings.prompt_cache
        # Whether the model lets a tool be forced; one that always thinks does not.
        self.forces_tools = True

    def body(self, request: ModelRequest) -> dict[str, Any]:
        """The JSON body; chat's names of parameters are known too."""
        refuse_reserved(request, _RESERVED)
        given = _parameters(request.parameters)
        system, messages = _conversation(request.messages)
        body: dict[str, Any] = {"model": self._model, "messages": messages}
        if system:
            body["system"] = system
        if request.tools:
            body["tools"] = [
                {"name": one.name, "description": one.description, "input_schema": one.parameters}
                for one in request.tools
            ]
            body["tool_choice"] = _tool_choice(request.tool_choice)
        schema = _answer_schema(request)
        if schema is not None and self._forces(request):
            body["tools"] = [{"name": _ANSWER, "input_schema": schema}]
            body["tool_choice"] = {"type": "tool", "name": _ANSWER}
        elif request.schema is not None:
            form = {"type": "json_schema", "schema": dict(request.schema)}
            given["output_config"] = {**given.get("output_config", {}), "format": form}
        if self._caches:
            _mark_stable(body)
        if self._stream:
            body["stream"] = True
        return {**body, **given}

    def read(self, body: Mapping[str, Any], request: ModelRequest) -> Answer[ModelResponse]:
        """The response without its price. Missing usage is counted here."""
        content, reason = body.get("content"), body.get("stop_reason")
        if not isinstance(content, list) or not isinstance(reason, str):
            raise BadAnswerError("it has no content, or no stop_reason")
        blocks = [block for block in content if isinstance(block, Mapping)]
        uses = [block for block in blocks if block.get("type") == "tool_use"]
        texts = [one.get("text") for one in blocks if one.get("type") == "text"]
        text = "".join(one for one in texts if isinstance(one, str))
        ended = _REASONS.get(reason, reason)
        forced = _answer_schema(request) is not None and self._forces(request)
        if forced and uses:
            text, uses = _forced_text(uses[0], request), []
            ended = ended.replace("tool_calls", "stop")
        if ended == "refusal" and not text:
            details = body.get("stop_details")
            text = str(details.get("explanation") or "") if isinstance(details, Mapping) else ""
        thoughts = [dict(block) for block in blocks if block.get("type") in _THOUGHTS]
        calls = tool_calls_of(
            (
                one.get("id"),
                one.get("name"),
                one.get("input"),
                (None if number else thoughts) or None,
            )
            for number, one in enumerate(uses)
        )
        used = read_usage(body) or counted_tokens(request, text, self._model)
        response = ModelResponse(text=storable_text(text), finish_reason=ended, tool_calls=calls)
        return used.holding(response)

    def stream(self) -> MessagesStream:
        """For a message that comes piece by piece."""
        return MessagesStream()

    def outcome(self, error: ErrorAnswer) -> ModelResponse | None:
        """An answer that the filter kept back."""
        return kept_back(error)

    def learn(self, error: ErrorAnswer, request: ModelRequest) -> bool:
        """Whether the model always thinks, so that no tool can be forced."""
        said = error.message.lower()
        if _answer_schema(request) is None or "tool_choice" not in said or "thinking" not in said:
            return False
        self.forces_tools = False
        return True

    def _forces(self, request: ModelRequest) -> bool:
        thinking = _parameters(request.parameters).get("thinking", {"type": "disabled"})
        return self.forces_tools and not request.tools and thinking == {"type": "disabled"}


class MessagesStream:
    """A message put together from its events."""

    def __init__(self) -> None:
        self.begun = False
        self._message: dict[str, Any] = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        self._ended = False

    def add(self, line: str) -> None:
        """One line; BadAnswerError where it tells of a failure."""
        if not line.startswith("data:"):
            return
        event = parse_body(line.removeprefix("data:").strip().encode(), "")
        inner = {name: one for name, one in event.items() if isinstance(one, Mapping)}
        index = token_count(event.get("index")) or 0
        match event.get("type"):
            case "error":
                raise BadAnswerError(f"it broke off: {clean_message(str(event.get('error')))}")
            case "message_start":
                self._message = dict(inner.get("message", {}))
            case "content_block_start":
                self._blocks[index] = dict(inner.get("content_block", {}))
            case "content_block_delta":
                self._add_delta(index, inner.get("delta", {}))
            case "message_delta":
                begun = self._message.get("usage")
                usage = {**(begun if isinstance(begun, dict) else {}), **inner.get("usage", {})}
                self._message |= {**inner.get("delta", {}), "usage": usage}
            case "message_stop":
                self._ended = True

    def _add_delta(self, index: int, delta: Mapping[str, Any]) -> None:
        block = self._blocks.setdefault(index, {})
        names = {"input_json_delta": ("partial_json", "input_text")}
        kind = str(delta.get("type"))
        given, kept = names.get(kind, (kind.removesuffix("_delta"),) * 2)
        if isinstance(delta.get(given), str):
            block[kept] = str(block.get(kept) or "") + delta[given]
            self.begun = self.begun or bool(delta[given] and given in ("text", "partial_json"))

    def body(self) -> dict[str, Any]:
        """The message as it would have come as a whole; BadAnswerError when its end is missing."""
        if not self._ended:
            raise BadAnswerError("it broke off before its end")
        for block in self._blocks.values():
            if "input_text" in block:
                block["input"] = block.pop("input_text")
        return {**self._message, "content": list(self._blocks.values())}


def read_usage(body: Mapping[str, Any]) -> Answer[None] | None:
    """Tokens without their price; those from and for the cache are a part of the input."""
    given = body.get("usage")
    if not isinstance(given, Mapping):
        return None
    read, written = token_count(given.get("input_tokens")), token_count(given.get("output_tokens"))
    if read is None or written is None:
        return None
    cached = token_count(given.get("cache_read_input_tokens")) or 0
    kept = token_count(given.get("cache_creation_input_tokens")) or 0
    total = read + cached + kept
    usage = Usage(calls=1, input_tokens=total, output_tokens=written, cached_tokens=cached)
    return Answer(None, usage, cache_write_tokens=kept)


def _parameters(given: Mapping[str, Json]) -> dict[str, Any]:
    """Under the API's own names, with the limit that it wants."""
    told: dict[str, Any] = dict(given)
    for name in ("max_completion_tokens", "max_output_tokens"):
        if name in told:
            told.setdefault("max_tokens", told.pop(name))
    stop = told.pop("stop", None)
    if stop is not None:
        told["stop_sequences"] = [stop] if isinstance(stop, str) else stop
    effort = told.pop("reasoning_effort", None)
    if effort == "none":
        told.setdefault("thinking", {"type": "disabled"})
    elif effort is not None:
        told["output_config"] = {
            "effort": _EFFORTS.get(effort, effort),
            **told.get("output_config", {}),
        }
    thinking = told.get("thinking")
    if isinstance(thinking, bool):
        told["thinking"] = {"type": "adaptive" if thinking else "disabled"}
    elif isinstance(thinking, int):
        told["thinking"] = {"type": "enabled", "budget_tokens": thinking}
    thinking = told.get("thinking")
    budget = thinking.get("budget_tokens") if isinstance(thinking, Mapping) else None
    told.setdefault("max_tokens", _MAX_TOKENS + (token_count(budget) or 0))
    return told


def _conversation(messages: tuple[Message, ...]) -> tuple[list[Any], list[dict[str, Any]]]:
    """Blocks of instructions, and turns of user and assistant in alternation."""
    system = [
        {"type": "text", "text": one.content}
        for one in messages
        if one.role in ("system", "developer") and one.content.strip()
    ]
    turns: list[dict[str, Any]] = []
    for message in messages:
        if message.role in ("system", "developer"):
            continue
        role = "assistant" if message.role == "assistant" else "user"
        blocks = list(_blocks(message))
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        elif blocks:
            turns.append({"role": role, "content": blocks})
    if not system and not turns:
        raise UsageError(
            what="the request cannot be sent",
            why="its messages hold no text",
            fix="give at least one message with content",
            code="invalid_request",
        )
    # The API wants a turn of the user, which a prompt of instructions alone has not.
    return (system, turns) if turns else ([], [{"role": "user", "content": system}])


def _blocks(message: Message) -> Iterator[dict[str, Any]]:
    """A message's content. Empty texts are left out, because the API refuses them."""
    text = [{"type": "text", "text": message.content}] if message.content.strip() else []
    pictures = [_picture(one.media_type, one.data) for one in message.pictures]
    if message.tool_call_id:
        yield {
            "type": "tool_result",
            "tool_use_id": message.tool_call_id,
            "content": [*text, *pictures],
        }
        return
    for call in message.tool_calls:
        yield from call.echo if isinstance(call.echo, list) else []
    yield from pictures
    yield from text
    for call in message.tool_calls:
        given = call.arguments if isinstance(call.arguments, dict) else {"text": call.arguments}
        yield {"type": "tool_use", "id": call.id, "name": call.name, "input": given}


def _picture(media_type: str, data: str) -> dict[str, Any]:
    if media_type not in _PICTURES:
        raise UsageError(
            what="the request cannot be sent",
            why=f"Anthropic's models take no pictures of the type {media_type}",
            fix=f"give one of {', '.join(_PICTURES)}",
            code="unsupported_request",
        )
    source = {"type": "base64", "media_type": media_type, "data": data}
    return {"type": "image", "source": source}


def _tool_choice(choice: str) -> dict[str, str]:
    kinds = {"auto": "auto", "required": "any"}
    return {"type": kinds[choice]} if choice in kinds else {"type": "tool", "name": choice}


def _answer_schema(request: ModelRequest) -> dict[str, Any] | None:
    """What a forced tool takes: an object, so anything else is its only field."""
    wanted: Mapping[str, Any] | None = request.schema
    if wanted is None and request.labels:
        wanted = {"type": "string", "enum": list(request.labels)}
    if wanted is None or wanted.get("type") == "object":
        return None if wanted is None else dict(wanted)
    return {"type": "object", "properties": {_ANSWER: wanted}, "required": [_ANSWER]}


def _forced_text(use: Mapping[str, Any], request: ModelRequest) -> str:
    given = use.get("input")
    if isinstance(given, str):  # as it was streamed
        try:
            given = json.loads(given or "{}")
        except (ValueError, RecursionError):
            return given  # It was cut, which the reason to stop says.
    if request.schema is None or request.schema.get("type") != "object":
        given = given.get(_ANSWER) if isinstance(given, Mapping) else given
    if request.schema is None and isinstance(given, str):
        return given
    return json.dumps(given, ensure_ascii=False)


def _mark_stable(body: dict[str, Any]) -> None:
    """Cache points behind what the next request is likely to begin with.

    Those are tools, instructions, and what was said before the last turn; after a tool's answer it is
    all of it, because the next step goes on from there.
    """
    for name in ("tools", "system"):
        if body.get(name):
            body[name][-1] = {**body[name][-1], **_CACHED}
    turns = body["messages"]
    in_tools = turns[-1]["content"][-1].get("type") == "tool_result"
    stable = turns if in_tools else turns[:-1]
    if stable and stable[-1]["content"][-1].get("type") not in _THOUGHTS:
        stable[-1]["content"][-1] |= _CACHED


def _headers(key: str) -> dict[str, str]:
    return {"x-api-key": key, "anthropic-version": "2023-06-01"}


def _read_error(content: bytes) -> Mapping[str, Any]:
    """As elsewhere; an account without credit is told as one, whatever its type."""
    said = read_error(content)
    empty = said.get("type") == "billing_error" or "credit balance" in str(said.get("message"))
    return {**said, "code": NO_QUOTA} if empty else said


def _open_batches(
    vendor: Vendor, wire: MakeWire, name: str, settings: ModelSettings
) -> BatchEndpoint:
    from burnish.models.anthropic.batches import AnthropicBatches  # noqa: PLC0415 - seldom needed

    return AnthropicBatches(vendor, wire, name, settings)


ANTHROPIC = Vendor(
    provider="anthropic",
    address="https://api.anthropic.com",
    address_env="ANTHROPIC_BASE_URL",
    key_env="ANTHROPIC_API_KEY",
    speaks="Anthropic's API",
    headers=_headers,
    read_error=_read_error,
    read_usage=read_usage,
    batches=_open_batches,
)


class AnthropicModel(EndpointModel):
    """`anthropic/NAME`, at Anthropic or wherever `base_url` or `ANTHROPIC_BASE_URL` names."""

    def __init__(
        self,
        name: str,
        settings: ModelSettings | None = None,
        *,
        clock: Clock | None = None,
        draw: Callable[[], float] = random.random,
    ) -> None:
        super().__init__(ANTHROPIC, MessagesWire, name, settings, clock=clock, draw=draw)
