"""OpenAI chat wire: the body of a chat completion, its answer and its stream."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from burnish.domain import Json, Message, ModelRequest, ModelResponse, UsageError
from burnish.models.endpoint.answers import (
    Answer,
    arguments_text,
    counted_tokens,
    parse_body,
    storable_text,
    tool_calls_of,
)
from burnish.models.failures import BadAnswerError, ErrorAnswer, clean_message, refuse_reserved
from burnish.models.local.grammar import labels_grammar
from burnish.models.openai.vendor import filtered, read_tokens
from burnish.models.settings import ModelSettings

_RESERVED = ("messages", "model", "n", "stream", "stream_options")
_LEAST_LOGPROB = -9999.0


class ChatWire:
    """The chat API, as OpenAI and the endpoints that are compatible with it speak it."""

    api = "chat"
    answers = "a chat completion"
    path = "chat/completions"

    def __init__(self, model: str, settings: ModelSettings) -> None:
        self._model = model
        self._settings = settings
        self.variant: tuple[Json, ...] = (settings.grammar,)

    def body(self, request: ModelRequest) -> dict[str, Any]:
        """The JSON body; the caller's parameters pass through as they are."""
        refuse_reserved(request, _RESERVED)
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [chat_message(message) for message in request.messages],
        }
        if request.schema is not None:
            form = {"name": "answer", "schema": dict(request.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        elif request.labels and self._settings.grammar:
            body["grammar"] = labels_grammar(request.labels)
        if request.tools:
            tools = [{"type": "function", "function": tool.to_json()} for tool in request.tools]
            body |= {"tools": tools, "tool_choice": _tool_choice(request.tool_choice)}
        if self._settings.stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return {**body, **request.parameters}

    def read(self, body: Mapping[str, Any], request: ModelRequest) -> Answer[ModelResponse]:
        """The response without its price. Missing usage is counted here."""
        choices = body.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, Mapping) else None
        if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
            raise BadAnswerError("it has no message in choices[0]")
        text, logprobs = _text_of(message), choice.get("logprobs")
        used = read_tokens(body) or counted_tokens(request, text, self._model)
        response = ModelResponse(
            text=text,
            finish_reason=_finish_reason(choice.get("finish_reason"), message),
            logprobs=read_logprobs(
                logprobs.get("content") if isinstance(logprobs, Mapping) else None
            ),
            tool_calls=tool_calls_of(_told_calls(message.get("tool_calls"))),
        )
        return used.holding(response)

    def stream(self) -> ChatStream:
        """For a completion that comes piece by piece."""
        return ChatStream()

    def outcome(self, error: ErrorAnswer) -> ModelResponse | None:
        """A filtered prompt."""
        return filtered(error)

    def learn(self, _error: ErrorAnswer, _request: ModelRequest) -> bool:
        """False: parameters are all that is refused."""
        return False


class ChatStream:
    """A chat completion put together from its pieces."""

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {"content": [], "refusal": []}
        self._calls: dict[int, dict[str, str]] = {}
        self._logprobs: list[Any] = []
        self._usage: Any = None
        self._reason: Any = None
        self._ended = False

    @property
    def begun(self) -> bool:
        """Whether any text or tool call has come."""
        return bool(any(self._texts.values()) or self._calls)

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
            for name, kept in self._texts.items():
                if isinstance(delta.get(name), str) and delta[name]:
                    kept.append(delta[name])
            calls = delta.get("tool_calls")
            for position, call in enumerate(calls if isinstance(calls, list) else []):
                if isinstance(call, Mapping):
                    self._add_call(position, call)
        if isinstance(logprobs, Mapping) and isinstance(logprobs.get("content"), list):
            self._logprobs += logprobs["content"]

    def _add_call(self, position: int, piece: Mapping[str, Any]) -> None:
        index = piece.get("index", position)
        call = self._calls.setdefault(index if isinstance(index, int) else position, {})
        function = piece.get("function")
        told = {**(function if isinstance(function, Mapping) else {}), "id": piece.get("id")}
        for name in ("id", "name"):
            if isinstance(told.get(name), str) and told[name]:
                call.setdefault(name, told[name])
        if isinstance(told.get("arguments"), str):
            call["arguments"] = call.get("arguments", "") + told["arguments"]

    def body(self) -> dict[str, Any]:
        """The answer as it would have come as a whole; BadAnswerError when its end is missing."""
        if not self._ended and self._reason is None:
            raise BadAnswerError("it broke off before its end")
        message: dict[str, Any] = {
            name: "".join(texts) for name, texts in self._texts.items() if texts
        }
        if self._calls:
            calls = [self._calls[index] for index in sorted(self._calls)]
            message["tool_calls"] = [{"id": call.get("id"), "function": call} for call in calls]
        choice = {"message": message, "finish_reason": self._reason}
        if self._logprobs:
            choice["logprobs"] = {"content": self._logprobs}
        return {"choices": [choice], "usage": self._usage}


def chat_message(message: Message) -> dict[str, Any]:
    """A message as the chat API takes it."""
    told: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_call_id:
        if message.pictures:
            raise UsageError(
                what="the request cannot be sent",
                why="the chat API takes no pictures in what a tool answers",
                fix='set api = "responses" for the model, or let the tool answer in text',
                code="unsupported_request",
            )
        told["tool_call_id"] = message.tool_call_id
    if message.pictures:
        pictures = [f"data:{one.media_type};base64,{one.data}" for one in message.pictures]
        told["content"] = [
            *([{"type": "text", "text": message.content}] if message.content else []),
            *({"type": "image_url", "image_url": {"url": picture}} for picture in pictures),
        ]
    if message.tool_calls:
        told["content"] = message.content or None
        told["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": arguments_text(call)},
            }
            for call in message.tool_calls
        ]
    return told


def _tool_choice(choice: str) -> Any:
    if choice in ("auto", "required"):
        return choice
    return {"type": "function", "function": {"name": choice}}


def _finish_reason(reason: Any, message: Mapping[str, Any]) -> str:
    if message.get("refusal"):
        return "refusal"
    return reason if isinstance(reason, str) and reason else "stop"


def _told_calls(calls: Any) -> list[tuple[Any, Any, Any]]:
    told = []
    for call in calls if isinstance(calls, list) else []:
        function = call.get("function") if isinstance(call, Mapping) else None
        given = function if isinstance(function, Mapping) else {}
        told.append((call.get("id") if given else None, given.get("name"), given.get("arguments")))
    return told


def _text_of(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if content is None:
        content = message.get("refusal") or ""
    if not isinstance(content, str):
        raise BadAnswerError(f"its content is a {type(content).__name__}, not text")
    return storable_text(content)


def read_logprobs(content: Any) -> tuple[Mapping[str, Json], ...] | None:
    """Tokens with their logprobs and rivals; None where there is no such list."""
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
    token = storable_text(str(value.get("token", "")))
    return {"token": token, "logprob": float(number or 0) if within else _LEAST_LOGPROB}
