"""Language models: the request, the response, the protocols of a model and of a call cache."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol

from burnish.domain.errors import UnavailableError
from burnish.domain.json_values import Json, text_hash
from burnish.domain.usage import Spending, Usage


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture in a message: its media type, such as image/png, and its bytes in base64."""

    media_type: str
    data: str

    def to_json(self) -> dict[str, str]:
        """What tells it apart; its bytes count by their hash."""
        return {"media_type": self.media_type, "sha256": text_hash(self.data)}


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that a model wants called; `id` ties the tool's message to it.

    `arguments` is an object where the model wrote one, else its text as it came. `echo` is what the
    provider wants to see again with the call, such as signed thoughts; nobody else reads it.
    """

    id: str
    name: str
    arguments: Json
    echo: Json = None

    def to_json(self) -> dict[str, Json]:
        """By name; the echo only where there is one."""
        told = {"id": self.id, "name": self.name, "arguments": self.arguments}
        return told if self.echo is None else {**told, "echo": self.echo}

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> ToolCall:
        """From its JSON form."""
        return cls(value["id"], value["name"], value["arguments"], value.get("echo"))


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as a model is told of it; `parameters` is the JSON schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Json]

    def to_json(self) -> dict[str, Json]:
        """The three by name."""
        return {
            "name": self.name,
            "description": self.description,
            "parameters": dict(self.parameters),
        }


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message.

    A message of the role "assistant" may hold `tool_calls`. One of the role "tool" holds what a tool
    answered to the call `tool_call_id`. Providers that take no pictures or tools refuse them.
    """

    role: str
    content: str
    pictures: tuple[Picture, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""

    @property
    def plain(self) -> bool:
        """Whether it is text only."""
        return not (self.pictures or self.tool_calls or self.tool_call_id)

    def to_json(self) -> dict[str, Any]:
        """Role and content, as every chat endpoint takes them; of the rest only what there is."""
        told: dict[str, Any] = {"role": self.role, "content": self.content}
        if self.pictures:
            told["pictures"] = [picture.to_json() for picture in self.pictures]
        if self.tool_calls:
            told["tool_calls"] = [call.to_json() for call in self.tool_calls]
        if self.tool_call_id:
            told["tool_call_id"] = self.tool_call_id
        return told


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """What is asked. `labels` or `schema` constrain the answer where the model can do that.

    `tools` may be called by the model in place of an answer, or must be where `tool_choice` is
    "required" or a tool's name; "auto" leaves it to the model.

    `parameters` are the model's own settings (temperature, max_tokens, seed, …). `repeat` tells
    apart calls that are alike on purpose, so that no cache answers the second with the first.
    """

    messages: tuple[Message, ...]
    parameters: Mapping[str, Json] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    schema: Mapping[str, Json] | None = None
    tools: tuple[ToolDefinition, ...] = ()
    tool_choice: str = "auto"
    repeat: int = 0
    timeout_seconds: float | None = None

    @classmethod
    def text(cls, prompt: str, **parameters: Json) -> ModelRequest:
        """A single user message."""
        return cls(messages=(Message("user", prompt),), parameters=parameters)

    def to_json(self) -> dict[str, Any]:
        """Everything the answer depends on, and nothing else: the deadline is not in it."""
        asked: dict[str, Any] = {
            "messages": [message.to_json() for message in self.messages],
            "parameters": dict(self.parameters),
            "labels": list(self.labels),
            "schema": None if self.schema is None else dict(self.schema),
            "repeat": self.repeat,
        }
        if self.tools:  # Requests without tools keep the key that they always had.
            asked["tools"] = [tool.to_json() for tool in self.tools]
            asked["tool_choice"] = self.tool_choice
        return asked


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelResponse:
    """What came back. `cached` is True when nobody was asked for it now.

    `usage` is what was paid for the current work; of a cached answer `reused` is what was paid then,
    unless an interrupted attempt at the same work paid for it. `latency_ms` is
    the model's own time, without our queue; where it is None, callers measure. `ttft_ms` is None
    where answers come as a whole. `label_logprobs` are those of all labels, where a local model was
    asked for them with the parameter of that name. `tool_calls` are those that the model wants made;
    beside them `text` may be empty. A `finish_reason` of "refusal" or "content_filter" is an answer
    too: what was asked is not answered, and asking again would not help.
    """

    text: str
    usage: Usage = field(default_factory=lambda: Usage(calls=1))
    finish_reason: str = "stop"
    logprobs: tuple[Mapping[str, Json], ...] | None = None
    label_logprobs: Mapping[str, float] | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    ttft_ms: float | None = None
    cached: bool = False
    reused: Usage = field(default_factory=Usage)
    latency_ms: float | None = None

    @property
    def refused(self) -> bool:
        """Whether the model refused, or a filter kept back what was asked for."""
        return self.finish_reason in ("refusal", "content_filter")

    def to_json(self) -> dict[str, Any]:
        """The stored form that `of` reads."""
        labels = self.label_logprobs
        return {
            "text": self.text,
            "usage": self.usage.to_json(),
            "finish_reason": self.finish_reason,
            "logprobs": None if self.logprobs is None else [dict(one) for one in self.logprobs],
            "ttft_ms": self.ttft_ms,
            **({} if labels is None else {"label_logprobs": dict(labels)}),
            **(
                {"tool_calls": [one.to_json() for one in self.tool_calls]}
                if self.tool_calls
                else {}
            ),
        }

    @classmethod
    def of(cls, value: Mapping[str, Any], *, cached: bool = False) -> ModelResponse:
        """From its stored form."""
        logprobs = value.get("logprobs")
        return cls(
            text=value["text"],
            usage=Usage.of(value.get("usage") or {}),
            finish_reason=value.get("finish_reason") or "stop",
            logprobs=None if logprobs is None else tuple(logprobs),
            label_logprobs=value.get("label_logprobs"),
            tool_calls=tuple(ToolCall.of(one) for one in value.get("tool_calls") or ()),
            ttft_ms=value.get("ttft_ms"),
            cached=cached,
            latency_ms=value.get("latency_ms"),
        )


class PaidAnswerError(UnavailableError):
    """Answers that were paid for and could not be used; `usage` is what they cost together."""

    def __init__(
        self, *, what: str, why: str, fix: str, code: str | None = None, usage: Usage | None = None
    ) -> None:
        super().__init__(what=what, why=why, fix=fix, code=code)
        self.usage = usage or Usage()

    @classmethod
    def of(cls, error: UnavailableError, usage: Usage) -> PaidAnswerError:
        """The same failure, with what it cost."""
        return cls(what=error.what, why=error.why, fix=error.fix, code=error.code, usage=usage)


def paid_in(error: BaseException) -> Usage:
    """What a failed call cost, as far as it is known."""
    return error.usage if isinstance(error, PaidAnswerError) else Usage()


def note_spending(error: BaseException, spending: Spending) -> None:
    """Say with a failure what its run had paid for before, by purpose."""
    error.burnish_spending = spent_before(error) + spending  # type: ignore[attr-defined]


def spent_before(error: BaseException) -> Spending:
    """What a run had paid for before it failed, as far as that was noted."""
    noted = getattr(error, "burnish_spending", None)
    return noted if isinstance(noted, Spending) else Spending()


@dataclass(slots=True)
class Payer:
    """The piece of work that calls are paid for: one run of one item, or one step's questions.

    Work that was interrupted is done again under the same name. What it paid for then was never
    counted, so it is counted once the call cache answers it; `keys` are calls that count already.
    Of work that is `counted` as a whole none is.
    """

    name: str
    keys: set[str] = field(default_factory=set)
    counted: bool = False

    def claim(self, key: str) -> bool:
        """Whether a call was not counted yet; from now on it is."""
        if self.counted or key in self.keys:
            return False
        self.keys.add(key)
        return True


_payer: ContextVar[Payer | None] = ContextVar("burnish_payer", default=None)


def current_payer() -> Payer | None:
    """What calls that are made here are paid for; None where nobody said."""
    return _payer.get()


@contextmanager
def paying_for(payer: Payer | None) -> Iterator[None]:
    """Within, calls are paid for this."""
    token = _payer.set(payer)
    try:
        yield
    finally:
        _payer.reset(token)


class Model(Protocol):
    """Answers requests. Safe to call from many tasks at once; `close` frees what it holds.

    Raises UnavailableError when the model cannot be reached within its retries (PaidAnswerError when
    it answered what cannot be used), UsageError when the request itself is refused. `fingerprint`
    changes whenever equal requests may be answered otherwise (another model, another endpoint), and
    holds no secret.
    """

    name: str
    fingerprint: str

    async def complete(self, request: ModelRequest) -> ModelResponse: ...

    async def close(self) -> None: ...


class CallCache(Protocol):
    """Remembers responses by key. Losing an entry costs a call, never a wrong answer."""

    async def get(self, key: str) -> Mapping[str, Any] | None: ...

    async def put(self, key: str, value: Mapping[str, Any]) -> None: ...


class ToolCallRecords(Protocol):
    """Remembers what tools answered within a piece of work, until the work is done.

    What was added is there for whoever does the same work again, also after the program was killed.
    """

    async def load(self, work: str) -> Mapping[str, Mapping[str, Any]]:
        """Everything of one piece of work, by call."""
        ...

    async def add(self, work: str, call: str, value: Mapping[str, Any]) -> None:
        """Keep what one call came to; it is kept when this returns."""
        ...
