"""Gemini wire: the body of generateContent, its answer and its stream."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from burnish.domain import Json, Message, ModelRequest, ModelResponse, ToolCall, Usage
from burnish.models.endpoint.answers import (
    Answer,
    parse_body,
    storable_text,
    tool_calls_of,
)
from burnish.models.failures import BadAnswerError, ErrorAnswer, clean_message, refuse_reserved
from burnish.models.gemini.vendor import read_usage
from burnish.models.settings import ModelSettings
from burnish.models.tokens import count_message_tokens, count_tokens

_INSTRUCTING = ("system", "developer")
# An id that was made up here, because the model gave none.
_MADE_UP = re.compile(r"call_\d+")
_FILTERED = (
    *("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"),
    *("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "MODEL_ARMOR"),
)
_LEAST_LOGPROB = -9999.0
_RESERVED = (
    *("contents", "systemInstruction", "system_instruction", "tools", "toolConfig", "tool_config"),
    *("model", "messages", "n", "candidateCount", "candidate_count", "stream"),
    *("responseSchema", "response_schema", "responseJsonSchema", "response_json_schema"),
)
# Beside generationConfig, not in it.
_TOP_LEVEL = ("safetySettings", "cachedContent", "labels", "store", "serviceTier")
_RENAMED = {
    "max_tokens": "maxOutputTokens",
    "max_completion_tokens": "maxOutputTokens",
    "stop": "stopSequences",
    "logprobs": "responseLogprobs",
    "top_logprobs": "logprobs",
}
_UNDERSCORE = re.compile(r"_([a-z])")
# Tokens of thought for models that take a number in place of a level, as Google's own mapping has them.
_BUDGETS = {"none": 0, "minimal": 1024, "low": 1024, "medium": 8192, "high": 24576}
_BY_BUDGET = re.compile(r"gemini-2\.")


class GeminiWire:
    """generateContent, or streamGenerateContent where the settings stream."""

    api = "generateContent"
    answers = "generated content"
    variant: tuple[Json, ...] = ()

    def __init__(self, model: str, settings: ModelSettings) -> None:
        self._model = model
        resource = model if "/" in model else f"models/{model}"
        method = "streamGenerateContent?alt=sse" if settings.stream else "generateContent"
        self.path = f"{quote(resource)}:{method}"

    def body(self, request: ModelRequest) -> dict[str, Any]:
        """The JSON body; parameters by OpenAI's names or Google's."""
        told = [one.content for one in request.messages if one.role in _INSTRUCTING]
        system = {"parts": [{"text": "\n\n".join(told)}]}
        body: dict[str, Any] = {"contents": list(_contents(request.messages))}
        if not body["contents"]:
            # The API wants a turn of the user, which a prompt of instructions alone has not.
            body["contents"] = [{"role": "user", **system}]
        elif told:
            body["systemInstruction"] = system
        if request.tools:
            declared = [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "parametersJsonSchema": dict(tool.parameters),
                }
                for tool in request.tools
            ]
            body["tools"] = [{"functionDeclarations": declared}]
            body["toolConfig"] = {"functionCallingConfig": _calling(request.tool_choice)}
        return body | _settings_of(self._model, request)

    def read(self, body: Mapping[str, Any], request: ModelRequest) -> Answer[ModelResponse]:
        """The response without its price. Missing usage is counted here."""
        candidates = body.get("candidates")
        candidate = candidates[0] if isinstance(candidates, list) and candidates else None
        if not isinstance(candidate, Mapping):
            feedback = body.get("promptFeedback")
            if not isinstance(feedback, Mapping) or not feedback.get("blockReason"):
                raise BadAnswerError("it has no candidates")
            candidate = {"finishReason": "SAFETY"}
        parts = _parts_of(candidate)
        texts = [part["text"] for part in parts if _is_answer(part)]
        text = storable_text("".join(texts))
        if request.labels:
            text = _unquoted(text)
        usage = read_usage(body) or self._counted(request, text)
        calls = tool_calls_of(_told_calls(parts))
        response = ModelResponse(
            text=text,
            usage=usage,
            finish_reason=_finish_reason(candidate.get("finishReason"), calls),
            logprobs=_logprobs_of(candidate.get("logprobsResult")),
            tool_calls=calls,
        )
        return Answer(response, usage)

    def stream(self) -> GeminiStream:
        """For content that comes piece by piece."""
        return GeminiStream()

    def outcome(self, error: ErrorAnswer) -> ModelResponse | None:
        """None: what is filtered comes as an answer."""
        return None

    def learn(self, _error: ErrorAnswer, _request: ModelRequest) -> bool:
        """False: parameters are all that is refused."""
        return False

    def _counted(self, request: ModelRequest, text: str) -> Usage:
        return Usage(
            calls=1,
            input_tokens=count_message_tokens(request.messages, self._model),
            output_tokens=count_tokens(text, self._model),
        )


class GeminiStream:
    """Generated content put together from its pieces."""

    def __init__(self) -> None:
        self._parts: list[Any] = []
        self._logprobs: dict[str, list[Any]] = {}
        self._last: dict[str, Any] = {}
        self._reason: Any = None

    @property
    def begun(self) -> bool:
        """Whether any text or tool call has come."""
        return any(_is_answer(part) or "functionCall" in part for part in self._parts)

    def add(self, line: str) -> None:
        """One line of the stream; BadAnswerError for what is no piece of an answer."""
        if not line.startswith("data:"):
            return
        piece = parse_body(line.removeprefix("data:").strip().encode(), "")
        if "error" in piece:
            raise BadAnswerError(f"it broke off: {clean_message(str(piece['error']))}")
        for name in ("usageMetadata", "promptFeedback"):
            if piece.get(name):
                self._last[name] = piece[name]
        candidates = piece.get("candidates")
        candidate = candidates[0] if isinstance(candidates, list) and candidates else None
        if isinstance(candidate, Mapping):
            self._reason = candidate.get("finishReason") or self._reason
            self._parts += _parts_of(candidate)
            result = candidate.get("logprobsResult")
            for name, told in result.items() if isinstance(result, Mapping) else ():
                if isinstance(told, list):
                    self._logprobs.setdefault(name, []).extend(told)

    def body(self) -> dict[str, Any]:
        """The answer as it would have come as a whole; BadAnswerError when its end is missing."""
        if self._reason is None:
            if "promptFeedback" in self._last and not self._parts:
                return self._last
            raise BadAnswerError("it broke off before its end")
        candidate = {"content": {"parts": self._parts}, "finishReason": self._reason}
        if self._logprobs:
            candidate["logprobsResult"] = self._logprobs
        return {**self._last, "candidates": [candidate]}


def _contents(messages: tuple[Message, ...]) -> Iterator[dict[str, Any]]:
    """The conversation; answers of tools to one message stand together, as they must."""
    names = {call.id: call.name for message in messages for call in message.tool_calls}
    answers: list[dict[str, Any]] = []
    for message in messages:
        if message.tool_call_id:
            answers.append(_tool_answer(message, names.get(message.tool_call_id, "")))
            continue
        if answers:
            yield {"role": "user", "parts": answers}
            answers = []
        if message.role not in _INSTRUCTING:
            role = "model" if message.role == "assistant" else "user"
            yield {"role": role, "parts": _parts(message)}
    if answers:
        yield {"role": "user", "parts": answers}


def _parts(message: Message) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = [_inline(picture) for picture in message.pictures]
    if message.content or not (parts or message.tool_calls):
        parts.insert(0, {"text": message.content})
    return parts + [_call(call) for call in message.tool_calls]


def _inline(picture: Any) -> dict[str, Any]:
    return {"inlineData": {"mimeType": picture.media_type, "data": picture.data}}


def _call(call: ToolCall) -> dict[str, Any]:
    given = call.arguments if isinstance(call.arguments, dict) else {"text": call.arguments}
    called = _named(call.id, {"name": call.name, "args": given})
    # A signature of the thoughts before a call must come back with it.
    signed = {"thoughtSignature": call.echo} if isinstance(call.echo, str) else {}
    return {"functionCall": called, **signed}


def _tool_answer(message: Message, name: str) -> dict[str, Any]:
    try:
        value = json.loads(message.content)
    except ValueError:
        value = message.content
    response: dict[str, Any] = {
        "name": name,
        "response": value if isinstance(value, dict) else {"result": value},
    }
    if message.pictures:
        response["parts"] = [_inline(picture) for picture in message.pictures]
    return {"functionResponse": _named(message.tool_call_id, response)}


def _named(identity: str, value: dict[str, Any]) -> dict[str, Any]:
    """With its id, unless the model never gave one."""
    return value if not identity or _MADE_UP.fullmatch(identity) else {"id": identity, **value}


def _calling(choice: str) -> dict[str, Any]:
    if choice in ("auto", "required"):
        return {"mode": "AUTO" if choice == "auto" else "ANY"}
    return {"mode": "ANY", "allowedFunctionNames": [choice]}


def _parts_of(candidate: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = candidate.get("content")
    parts = content.get("parts") if isinstance(content, Mapping) else None
    return [part for part in parts if isinstance(part, Mapping)] if isinstance(parts, list) else []


def _is_answer(part: Mapping[str, Any]) -> bool:
    return isinstance(part.get("text"), str) and not part.get("thought")


def _told_calls(parts: list[Mapping[str, Any]]) -> Iterator[tuple[Any, ...]]:
    for part in parts:
        call = part.get("functionCall")
        if isinstance(call, Mapping):
            yield call.get("id"), call.get("name"), call.get("args") or {}, _signature(part)


def _signature(part: Mapping[str, Any]) -> str | None:
    given = part.get("thoughtSignature")
    return given if isinstance(given, str) and given else None


def _finish_reason(reason: Any, calls: tuple[ToolCall, ...]) -> str:
    if reason in _FILTERED:
        return "content_filter"
    if reason == "MAX_TOKENS":
        return "length"
    if reason not in (None, "STOP", "FINISH_REASON_UNSPECIFIED"):
        # Such as a malformed call of a tool: the next attempt may bring a good one.
        raise BadAnswerError(f"it ended by {clean_message(str(reason))}")
    return "tool_calls" if calls else "stop"


def _unquoted(text: str) -> str:
    """A label that came as JSON, as itself."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, str) else text


def _logprobs_of(value: Any) -> tuple[Mapping[str, Json], ...] | None:
    chosen = value.get("chosenCandidates") if isinstance(value, Mapping) else None
    if not isinstance(chosen, list):
        return None
    tops = value.get("topCandidates")
    rivals = tops if isinstance(tops, list) else []
    tokens = []
    for number, one in enumerate(chosen):
        if isinstance(one, Mapping):
            top = rivals[number].get("candidates") if number < len(rivals) else None
            listed = [_token(rival) for rival in top or () if isinstance(rival, Mapping)]
            tokens.append({**_token(one), "top_logprobs": listed})
    return tuple(tokens)


def _token(value: Mapping[str, Any]) -> dict[str, Json]:
    number = value.get("logProbability")
    within = isinstance(number, (int, float)) and _LEAST_LOGPROB <= number <= 0
    token = storable_text(str(value.get("token", "")))
    return {"token": token, "logprob": float(number or 0) if within else _LEAST_LOGPROB}


def _settings_of(model: str, request: ModelRequest) -> dict[str, Any]:
    """`generationConfig` and what stands beside it."""
    refuse_reserved(request, _RESERVED)
    config: dict[str, Any] = _form(request)
    beside: dict[str, Any] = {}
    for name, value in request.parameters.items():
        if name == "reasoning_effort":
            config["thinkingConfig"] = _thinking(model, value)
            continue
        theirs = _RENAMED.get(name) or _camel(name)
        given = [value] if name == "stop" and isinstance(value, str) else value
        (beside if theirs in _TOP_LEVEL else config)[theirs] = given
    return {**beside, "generationConfig": config} if config else beside


def _form(request: ModelRequest) -> dict[str, Any]:
    if request.schema is not None:
        return {
            "responseMimeType": "application/json",
            "responseJsonSchema": dict(request.schema),
        }
    if request.labels and not request.tools:
        labels = {"type": "STRING", "enum": list(request.labels)}
        return {"responseMimeType": "text/x.enum", "responseSchema": labels}
    return {}


def _thinking(model: str, effort: Json) -> dict[str, Json]:
    if _BY_BUDGET.search(model) and isinstance(effort, str) and effort in _BUDGETS:
        return {"thinkingBudget": _BUDGETS[effort]}
    return {"thinkingLevel": effort}


def _camel(name: str) -> str:
    return _UNDERSCORE.sub(lambda found: found[1].upper(), name)
