"""Answers of endpoints: their JSON, what was read of it, and the tokens that it took."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Generic, TypeVar, cast

from burnish.domain import Json, ModelRequest, ModelResponse, ToolCall, Usage
from burnish.models.failures import BadAnswerError, ErrorAnswer, clean_message
from burnish.models.tokens import count_message_tokens, count_tokens

T = TypeVar("T")
U = TypeVar("U")
_MOST_TOKENS = 10**9


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """What was read of an answer, and what it took; `latency_ms` is of the one attempt it came from.

    The counts besides `usage` are parts of its tokens that are priced otherwise: `image_tokens` and
    `cache_write_tokens` of the input, `output_image_tokens` of the output.
    """

    value: T
    usage: Usage
    image_tokens: int = 0
    output_image_tokens: int = 0
    cache_write_tokens: int = 0
    latency_ms: float | None = None

    def holding(self, value: U) -> Answer[U]:
        """Another value that took the same."""
        return cast("Answer[U]", replace(cast("Answer[Any]", self), value=value))


def parse_body(content: bytes, content_type: str) -> Mapping[str, Any]:
    """The answer's JSON object; BadAnswerError says what it is instead."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind and not kind.endswith("json"):
        raise BadAnswerError(f"it is of type {clean_message(kind)}, not JSON")
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise BadAnswerError("it is not valid JSON") from error
    if not isinstance(value, Mapping):
        raise BadAnswerError("it is JSON, but not an object")
    return value


def token_count(value: Any) -> int | None:
    """A number of tokens as an endpoint gives it; None for what cannot be one."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value < _MOST_TOKENS else None


def counted_tokens(request: ModelRequest, text: str, model: str) -> Answer[None]:
    """What a call took, counted here, where the endpoint does not tell."""
    read = count_message_tokens(request.messages, model)
    return Answer(None, Usage(calls=1, input_tokens=read, output_tokens=count_tokens(text, model)))


def kept_back(error: ErrorAnswer) -> ModelResponse | None:
    """The outcome of an answer that Anthropic's filter kept back, wherever its models run."""
    if error.status != 400 or "content filtering policy" not in error.message:
        return None
    return ModelResponse(text="", finish_reason="content_filter")


def storable_text(text: str) -> str:
    """Without half surrogate pairs: they are legal in JSON, but no database stores them."""
    return text.encode("utf-8", "replace").decode("utf-8")


def schema_words(schema: Mapping[str, Any]) -> str:
    """A schema for models that cannot be held to one: it is asked for."""
    return "Answer with JSON that is valid by this JSON schema:\n" + json.dumps(schema)


def tool_calls_of(told: Iterable[tuple[Any, ...]]) -> tuple[ToolCall, ...]:
    """Calls from (id, name, arguments), or with an echo; arguments in text are read.

    An id that is missing or doubled is made up: a tool's message must name one call.
    """
    calls: dict[str, ToolCall] = {}
    for given, name, arguments, *echo in told:
        if not isinstance(name, str) or not name:
            raise BadAnswerError("it calls a tool without a name")
        key = storable_text(given) if isinstance(given, str) else ""
        made = (f"call_{number}" for number in count(len(calls) + 1))
        while not key or key in calls:
            key = next(made)
        calls[key] = ToolCall(key, storable_text(name), _arguments(arguments), *echo)
    return tuple(calls.values())


def arguments_text(call: ToolCall) -> str:
    """A call's arguments as text, as they came where they are no JSON."""
    return call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)


def _arguments(given: Any) -> Json:
    """An object, or else the text as it came; what no database could store stays text."""
    text = storable_text(given) if isinstance(given, str) else json.dumps(given)
    try:
        value = json.loads(text or "{}", parse_constant=_refuse_constant)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict) else text


def _refuse_constant(name: str) -> None:
    raise ValueError(name)
