"""OpenAI Responses wire: the body of a response, its answer and its stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from burnish.domain import Json, Message, ModelRequest, ModelResponse
from burnish.models.endpoint.answers import (
    Answer,
    arguments_text,
    counted_tokens,
    parse_body,
    storable_text,
    tool_calls_of,
)
from burnish.models.failures import BadAnswerError, ErrorAnswer, clean_message, refuse_reserved
from burnish.models.openai.chat import read_logprobs
from burnish.models.openai.vendor import filtered, read_tokens
from burnish.models.settings import ModelSettings

_RESERVED = ("input", "model", "text", "stream", "store", "background", "messages", "n")
# Chat's names for what this API calls otherwise.
_RENAMED = {"max_tokens": "max_output_tokens", "max_completion_tokens": "max_output_tokens"}
_CUT = {"max_output_tokens": "length", "content_filter": "content_filter"}
_ENDS = ("response.completed", "response.incomplete", "response.failed")


class ResponsesWire:
    """The Responses API; a schema is held strictly, and nothing is kept on the other side."""

    api = "responses"
    answers = "a response"
    path = "responses"
    variant: tuple[Json, ...] = ()

    def __init__(self, model: str, settings: ModelSettings) -> None:
        self._model = model
        self._stream = settings.stream

    def body(self, request: ModelRequest) -> dict[str, Any]:
        """The JSON body; parameters have the names of the chat API or of this one."""
        refuse_reserved(request, _RESERVED)
        given = {_RENAMED.get(name, name): value for name, value in request.parameters.items()}
        text: dict[str, Any] = {}
        if request.schema is not None:
            text["format"] = strict_format("answer", request.schema)
        if given.pop("logprobs", False):
            given.setdefault("include", ["message.output_text.logprobs"])
        if "verbosity" in given:
            text["verbosity"] = given.pop("verbosity")
        if "reasoning_effort" in given:
            given.setdefault("reasoning", {"effort": given.pop("reasoning_effort")})
        body: dict[str, Any] = {
            "model": self._model,
            "input": [item for message in request.messages for item in _items(message)],
            "store": False,
        }
        if text:
            body["text"] = text
        if request.tools:
            tools = [
                {"type": "function", "strict": False, **tool.to_json()} for tool in request.tools
            ]
            body |= {"tools": tools, "tool_choice": _tool_choice(request.tool_choice)}
        if self._stream:
            body["stream"] = True
        return {**body, **given}

    def read(self, body: Mapping[str, Any], request: ModelRequest) -> Answer[ModelResponse]:
        """The response without its price. Missing usage is counted here."""
        error = body.get("error")
        if body.get("status") == "failed" and isinstance(error, Mapping):
            message = clean_message(str(error.get("message")))
            said = ErrorAnswer(status=400, code=str(error.get("code")), message=message)
            found = filtered(said)
            if found is None:
                raise BadAnswerError(f"it failed: {message}")
            used = read_tokens(body) or counted_tokens(request, "", self._model)
            return used.holding(found)
        reason = _finish_reason(body)
        calls = tool_calls_of(_told_calls(body))
        # Thoughts may have used up what was allowed, and then there is no text.
        empty = bool(calls) or reason in _CUT.values()
        text = "" if empty and not any(_parts(body)) else read_response_text(body)
        used = read_tokens(body) or counted_tokens(request, text, self._model)
        ended = reason if reason != "stop" or not calls else "tool_calls"
        told = [part["logprobs"] for part in _parts(body) if isinstance(part.get("logprobs"), list)]
        return used.holding(
            ModelResponse(
                text=text,
                finish_reason=ended,
                logprobs=read_logprobs([token for one in told for token in one]) if told else None,
                tool_calls=calls,
            )
        )

    def stream(self) -> ResponsesStream:
        """For a response that comes piece by piece."""
        return ResponsesStream()

    def outcome(self, error: ErrorAnswer) -> ModelResponse | None:
        """A filtered prompt."""
        return filtered(error)

    def learn(self, _error: ErrorAnswer, _request: ModelRequest) -> bool:
        """False: parameters are all that is refused."""
        return False


class ResponsesStream:
    """A response from its events, of which the last holds all of it."""

    def __init__(self) -> None:
        self.begun = False
        self._response: Any = None

    def add(self, line: str) -> None:
        """One line; BadAnswerError where it tells of a failure."""
        if not line.startswith("data:"):
            return
        event = parse_body(line.removeprefix("data:").strip().encode(), "")
        kind = event.get("type")
        if kind == "error":
            raise BadAnswerError(f"it broke off: {clean_message(str(event.get('message')))}")
        if kind in _ENDS:
            self._response = event.get("response")
        self.begun = self.begun or str(kind).endswith(".delta")

    def body(self) -> dict[str, Any]:
        """The whole response; BadAnswerError when its end is missing."""
        if not isinstance(self._response, Mapping):
            raise BadAnswerError("it broke off before its end")
        return dict(self._response)


def strict_format(name: str, schema: Mapping[str, Json]) -> dict[str, Any]:
    """The form of a strict JSON answer, for which every object must be closed."""
    return {"type": "json_schema", "name": name, "strict": True, "schema": _closed(dict(schema))}


def read_response_text(body: Mapping[str, Any]) -> str:
    """All text of the answer; BadAnswerError when there is none. A refusal is text too."""
    texts = [part.get("text", part.get("refusal")) for part in _parts(body)]
    said = [text for text in texts if isinstance(text, str)]
    if not said:
        raise BadAnswerError("it has no text in its output")
    return storable_text("".join(said))


def _items(message: Message) -> Iterator[dict[str, Any]]:
    """A message as items of the input: its calls and what tools answered are items of their own."""
    content: Any = message.content
    if message.pictures:
        pictures = [f"data:{one.media_type};base64,{one.data}" for one in message.pictures]
        content = [
            *([{"type": "input_text", "text": message.content}] if message.content else []),
            *({"type": "input_image", "image_url": one, "detail": "auto"} for one in pictures),
        ]
    if message.tool_call_id:
        yield {
            "type": "function_call_output",
            "call_id": message.tool_call_id,
            "output": content,
        }
        return
    if content or not message.tool_calls:
        yield {"role": message.role, "content": content}
    for call in message.tool_calls:
        yield {
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": arguments_text(call),
        }


def _tool_choice(choice: str) -> Any:
    return choice if choice in ("auto", "required") else {"type": "function", "name": choice}


def _output(body: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    output = body.get("output")
    for item in output if isinstance(output, list) else []:
        if isinstance(item, Mapping):
            yield item


def _parts(body: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Parts of the answer's messages. What a model thought is no part of what it said."""
    for item in _output(body):
        content = item.get("content")
        if item.get("type") == "reasoning" or not isinstance(content, list):
            continue
        yield from (part for part in content if isinstance(part, Mapping))


def _told_calls(body: Mapping[str, Any]) -> list[tuple[Any, Any, Any]]:
    return [
        (item.get("call_id"), item.get("name"), item.get("arguments"))
        for item in _output(body)
        if item.get("type") == "function_call"
    ]


def _finish_reason(body: Mapping[str, Any]) -> str:
    if any(part.get("type") == "refusal" for part in _parts(body)):
        return "refusal"
    if body.get("status") != "incomplete":
        return "stop"
    details = body.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, Mapping) else None
    return _CUT.get(str(reason), "length")


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
