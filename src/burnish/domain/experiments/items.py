"""Dataset items, what an agent answers and a scorer says about one, and the protocols of both."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from burnish.domain.configuration import Configuration
from burnish.domain.errors import UsageError
from burnish.domain.json_values import Json, exact_hash
from burnish.domain.models import Message, Picture
from burnish.domain.usage import Spending

SPLITS = ("train", "validation", "test")
# What a row has in a conversation, besides its columns.
TURN = "turn"
MESSAGES = "messages"


@dataclass(frozen=True, kw_only=True)
class Item:
    """One row of a dataset. `id` is stable: given by the row, or made from its content.

    In a conversation `messages` are those so far, without the agent's own instructions; the last one
    is the user's. `pictures` are those of the suite's picture columns, loaded when the item runs.
    """

    id: str
    data: Mapping[str, Json]
    split: str | None = None
    messages: tuple[Message, ...] = ()
    pictures: Mapping[str, tuple[Picture, ...]] = field(default_factory=dict)

    @cached_property
    def hash(self) -> str:
        """Of the data alone: a renamed row is the same question."""
        return exact_hash(self.data)

    @cached_property
    def row(self) -> Mapping[str, Json]:
        """What agents, scorers and placeholders see: the data, and the row's own id and split.

        In a conversation, `turn` is what the user says now, and `messages` are all up to that.
        """
        made = self.hash.startswith(self.id)
        own = {"id": None if made else self.id, "split": self.split}
        row = {**{name: value for name, value in own.items() if value is not None}, **self.data}
        if self.messages:
            said = [message.to_json() for message in self.messages]
            row |= {TURN: self.messages[-1].content, MESSAGES: said}
        return row


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOutput:
    """What an agent answered: text, the parsed value where there is one, and how it got there.

    `spending` is paid now. `reused` is what calls cost, when they were paid, that a cache answered
    now; `latency_ms` is how long the answer itself took, then or now. Without it the time is measured.
    """

    text: str
    data: Json = None
    trace: Json = None
    spending: Spending = field(default_factory=Spending)
    finish_reason: str | None = None
    ttft_ms: float | None = None
    reused: Spending = field(default_factory=Spending)
    latency_ms: float | None = None

    def to_json(self) -> dict[str, Any]:
        """What is stored of it; spending is stored beside it."""
        return {
            "text": self.text,
            "data": self.data,
            "trace": self.trace,
            "finish_reason": self.finish_reason,
            "ttft_ms": self.ttft_ms,
        }

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> AgentOutput:
        """From its stored form."""
        names = ("text", "data", "trace", "finish_reason", "ttft_ms")
        return cls(**{name: value[name] for name in names if name in value})


@dataclass(frozen=True, slots=True)
class Score:
    """A scorer's verdict. The reason is what reflection reads, so say what was wrong.

    `passed` is for scorers that decide it themselves; otherwise the suite's threshold does.
    An `error` says that no verdict could be reached; the item counts as failed. `step` is the step
    of the transcript that a scorer of trajectories finds wrong, from 1.
    """

    value: float
    reason: str = ""
    passed: bool | None = None
    name: str = ""
    error: str | None = None
    spending: Spending = field(default_factory=Spending)
    step: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if isinstance(self.value, bool):
            object.__setattr__(self, "value", float(self.value))
        if not isinstance(self.value, (int, float)) or not math.isfinite(self.value):
            raise UsageError(
                what=f"the score {self.value!r} cannot be used",
                why="a score is a finite number, usually from 0 to 1",
                fix="return a float or burnish.Score(value=…) from the scorer",
                code="invalid_score",
            )

    def to_json(self) -> dict[str, Any]:
        """What is stored of it; spending is stored beside it."""
        return {
            "name": self.name,
            "value": self.value,
            "reason": self.reason,
            "passed": self.passed,
            "error": self.error,
            **({} if self.step is None else {"step": self.step}),
        }

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Score:
        """From its stored form."""
        names = ("value", "reason", "passed", "name", "error", "step")
        return cls(**{name: value[name] for name in names if name in value})


class Agent(Protocol):
    """Runs one input under a configuration. Safe to run from many tasks at once.

    A failure is raised; the runner records it as a failed item. `fingerprint` changes whenever an
    equal configuration and item may be answered otherwise (another model, changed code). None
    means that this cannot be known, so nothing of this agent is cached.
    """

    name: str
    configuration: Configuration
    fingerprint: str | None

    async def run(
        self, configuration: Configuration, item: Item, *, repeat: int
    ) -> AgentOutput: ...

    async def close(self) -> None: ...


class Scorer(Protocol):
    """Judges one output. Never raises for a bad output: that is a score of 0 with a reason.

    `fingerprint` changes whenever equal outputs may be judged otherwise; None means unknown.
    """

    name: str
    fingerprint: str | None

    async def score(self, output: AgentOutput, item: Item) -> Score: ...
