"""OpenAI wire format: bodies of requests and how answers are read, for chat and Responses API."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from burnish.domain import Json, ModelRequest, ModelResponse, Usage, UsageError
from burnish.models.failures import BadAnswerError, clean_message
from burnish.models.local.grammar import labels_grammar
from burnish.models.tokens import count_message_tokens, count_tokens

# What we set ourselves, or could not read the answer of.
_CHAT_RESERVED = ("messages", "model", "n", "stream", "stream_options")
_LEAST_LOGPROB = -9999.0
_MOST_TOKENS = 10**9
_RESPONSES_RESERVED = ("input", "model", "text", "stream", "store", "background", "messages", "n")
# Chat's names for what this API calls otherwise.
_RENAMED = {"max_tokens": "max_output_tokens", "max_completion_tokens": "max_output_tokens"}


def request_body(model: str, request: ModelRequest, *, grammar: bool) -> dict[str, Any]:
    """The JSON body of a chat completion; the caller's parameters pass through as they are."""
    _refuse_reserved(request, _CHAT_RESERVED, "the agent's parameters")
    body: dict[str, Any] = {
        "model": model,
        "messages": [message.to_json() for message in request.messages],
    }
    if request.schema is not None:
        form = {"name": "answer", "schema": dict(request.schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": form}
    elif request.labels and grammar:
        body["grammar"] = labels_grammar(request.labels)
    return {**body, **request.parameters}


def _refuse_reserved(request: ModelRequest, reserved: tuple[str, ...], whose: str) -> None:
    for name in reserved:
        if name in request.parameters:
            raise UsageError(
                what=f"the parameter {name!r} cannot be used",
                why="Burnish sets it itself",
                fix=f"remove it from {whose} (for several answers use repeats)",
                code="unsupported_parameter",
            )


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


class StreamedAnswer:
    """A chat completion put together from its pieces."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._refusals: list[str] = []
        self._logprobs: list[Any] = []
        self._usage: Any = None
        self._reason: Any = None
        self._ended = False

    @property
    def begun(self) -> bool:
        """Whether any text has come."""
        return bool(self._texts or self._refusals)

    def add(self, line: str) -> None:
        """One line of the stream; BadAnswerError for what is no piece of a completion."""
        if not line.startswith("data:"):
            return
        data = line.removeprefix("data:").strip()
        if data == "[DONE]":
            self._ended = True
            return
        piece = parse_body(data.encode(), "")
        if "error" in piece:
            raise BadAnswerError(f"it broke off: {clean_message(str(piece['error']))}")
        self._usage = piece.get("usage") or self._usage
        choices = piece.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if isinstance(choice, Mapping):
            self._add_choice(choice)

    def _add_choice(self, choice: Mapping[str, Any]) -> None:
        self._reason = choice.get("finish_reason") or self._reason
        delta, logprobs = choice.get("delta"), choice.get("logprobs")
        if isinstance(delta, Mapping):
            for name, kept in (("content", self._texts), ("refusal", self._refusals)):
                if isinstance(delta.get(name), str) and delta[name]:
                    kept.append(delta[name])
        if isinstance(logprobs, Mapping) and isinstance(logprobs.get("content"), list):
            self._logprobs += logprobs["content"]

    def body(self) -> dict[str, Any]:
        """The answer as it would have come as a whole; BadAnswerError when its end is missing."""
        if not self._ended and self._reason is None:
            raise BadAnswerError("it broke off before its end")
        message = {"content": "".join(self._texts or self._refusals)}
        choice = {"message": message, "finish_reason": self._reason}
        if self._logprobs:
            choice["logprobs"] = {"content": self._logprobs}
        return {"choices": [choice], "usage": self._usage}


def read_answer(body: Mapping[str, Any], model: str, request: ModelRequest) -> ModelResponse:
    """The response without its price. Missing usage is counted here."""
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
        raise BadAnswerError("it has no message in choices[0]")
    text, reason = _text_of(message), choice.get("finish_reason")
    return ModelResponse(
        text=text,
        usage=_usage_of(body.get("usage"), model, request, text),
        finish_reason=reason if isinstance(reason, str) and reason else "stop",
        logprobs=_logprobs_of(choice.get("logprobs")),
    )


def _text_of(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if content is None:
        content = message.get("refusal") or ""
    if not isinstance(content, str):
        raise BadAnswerError(f"its content is a {type(content).__name__}, not text")
    # Half a surrogate pair is legal in JSON, but no database stores it.
    return content.encode("utf-8", "replace").decode("utf-8")


def _usage_of(value: Any, model: str, request: ModelRequest, text: str) -> Usage:
    given = value if isinstance(value, Mapping) else {}
    details = given.get("prompt_tokens_details")
    read = token_count(given.get("prompt_tokens"))
    written = token_count(given.get("completion_tokens"))
    cached = token_count(details.get("cached_tokens")) if isinstance(details, Mapping) else None
    return Usage(
        calls=1,
        input_tokens=count_message_tokens(request.messages, model) if read is None else read,
        output_tokens=count_tokens(text, model) if written is None else written,
        cached_tokens=cached or 0,
    )


def token_count(value: Any) -> int | None:
    """A number of tokens as an endpoint gives it; None for what cannot be one."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value < _MOST_TOKENS else None


def _logprobs_of(value: Any) -> tuple[Mapping[str, Json], ...] | None:
    content = value.get("content") if isinstance(value, Mapping) else None
    if not isinstance(content, list):
        return None
    tokens = []
    for one in content:
        if isinstance(one, Mapping):
            rivals = one.get("top_logprobs")
            tops = rivals if isinstance(rivals, list) else []
            listed = [_token(top) for top in tops if isinstance(top, Mapping)]
            tokens.append({**_token(one), "top_logprobs": listed})
    return tuple(tokens)


def _token(value: Mapping[str, Any]) -> dict[str, Json]:
    number = value.get("logprob")
    within = isinstance(number, (int, float)) and _LEAST_LOGPROB <= number <= 0
    token = str(value.get("token", "")).encode("utf-8", "replace").decode("utf-8")
    return {"token": token, "logprob": float(number or 0) if within else _LEAST_LOGPROB}


def responses_body(model: str, request: ModelRequest) -> dict[str, Any]:
    """The JSON body of a response; nothing of it is kept on the other side."""
    _refuse_reserved(request, _RESPONSES_RESERVED, "the parameters")
    body: dict[str, Any] = {
        "model": model,
        "input": [message.to_json() for message in request.messages],
        "store": False,
    }
    if request.schema is not None:
        body["text"] = {"format": strict_format("answer", request.schema)}
    given = {_RENAMED.get(name, name): value for name, value in request.parameters.items()}
    return {**body, **given}


def strict_format(name: str, schema: Mapping[str, Json]) -> dict[str, Any]:
    """The form of a strict JSON answer, for which every object must be closed."""
    return {"type": "json_schema", "name": name, "strict": True, "schema": _closed(dict(schema))}


def read_response_text(body: Mapping[str, Any]) -> str:
    """All text of the answer; BadAnswerError when there is none. A refusal is text too."""
    output = body.get("output")
    parts = [
        part
        for item in (output if isinstance(output, list) else [])
        if isinstance(item, Mapping) and isinstance(item.get("content"), list)
        for part in item["content"]
        if isinstance(part, Mapping)
    ]
    texts = [part.get("text", part.get("refusal")) for part in parts]
    said = [text for text in texts if isinstance(text, str)]
    if not said:
        raise BadAnswerError("it has no text in its output")
    # Half a surrogate pair is legal in JSON, but no database stores it.
    return "".join(said).encode("utf-8", "replace").decode("utf-8")


def read_response_usage(body: Mapping[str, Any]) -> Usage | None:
    """Tokens without their price; None when the answer doesn't tell."""
    given = body.get("usage")
    if not isinstance(given, Mapping):
        return None
    read = token_count(given.get("input_tokens", given.get("prompt_tokens")))
    written = token_count(given.get("output_tokens", given.get("completion_tokens")))
    if read is None or written is None:
        return None
    details = given.get("input_tokens_details")
    cached = token_count(details.get("cached_tokens")) if isinstance(details, Mapping) else None
    return Usage(calls=1, input_tokens=read, output_tokens=written, cached_tokens=cached or 0)


def _closed(value: Any) -> Any:
    """The schema with every object closed and complete, as strict answers want it."""
    if isinstance(value, list):
        return [_closed(one) for one in value]
    if not isinstance(value, Mapping):
        return value
    inner = {key: _closed(one) for key, one in value.items()}
    properties = inner.get("properties")
    if inner.get("type") == "object" and isinstance(properties, dict):
        inner["additionalProperties"] = False
        inner["required"] = list(properties)
    return inner
