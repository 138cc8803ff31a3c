"""What the main loop is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from burnish.domain import (
    AgentOutput,
    Budget,
    ErrorKind,
    ExperimentContext,
    Json,
    Spending,
    UsageError,
)
from burnish.runtime.loops import reading
from burnish.runtime.mailboxes import MESSAGE_TYPES

MAIN_REQUESTS = "main-requests"


def now() -> datetime:
    """The current moment in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class MainLoopRequest:
    """One run of the agent. `request` holds the fields that its prompt names.

    The time that a deadline leaves is `deadline` less `created_at`, both by the sender's clock, and
    counts from when a worker takes the request: a worker's own clock may be wrong.
    """

    request: Mapping[str, Json]
    budget: Budget | None = None
    deadline: datetime | None = None
    experiment: ExperimentContext | None = None
    request_id: UUID = field(default_factory=uuid4)
    created_at: datetime = field(default_factory=now)

    def __post_init__(self) -> None:
        for name, moment in (("deadline", self.deadline), ("created_at", self.created_at)):
            if moment is not None and moment.tzinfo is None:
                raise UsageError(
                    what=f"the request's {name} cannot be used",
                    why="it has no time zone, so it means another moment on another machine",
                    fix="make it with datetime.now(UTC)",
                    code="invalid_request",
                )

    @property
    def seconds(self) -> float | None:
        """How long it may take, by its deadline and its budget; None is no limit."""
        limits = []
        if self.deadline is not None:
            limits.append((self.deadline - self.created_at).total_seconds())
        if self.budget is not None and self.budget.max_seconds is not None:
            limits.append(self.budget.max_seconds)
        return min(limits) if limits else None

    def to_json(self) -> dict[str, Any]:
        """The form that travels."""
        return {
            "request": dict(self.request),
            "budget": None if self.budget is None else self.budget.to_json(),
            "deadline": None if self.deadline is None else self.deadline.isoformat(),
            "experiment": None if self.experiment is None else self.experiment.to_json(),
            "request_id": str(self.request_id),
            "created_at": self.created_at.isoformat(),
        }

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> MainLoopRequest:
        """From the form that travels."""
        return cls(
            request=reading.of_type(value, "request", dict),
            budget=reading.optional(value, "budget", reading.budget),
            deadline=reading.optional(value, "deadline", reading.moment),
            experiment=reading.optional(value, "experiment", ExperimentContext.of),
            request_id=UUID(value["request_id"]),
            created_at=reading.moment(value["created_at"]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MainLoopResult:
    """What the agent answered, or why it did not.

    `overrides_tag` is the tag that was asked for, and `overridden` whether there was one; `stale`
    names sections whose override was made for another text and was left out. `exceeded` is the
    first limit of the budget that the run went past.
    """

    request_id: UUID
    output: AgentOutput | None = None
    usage: Spending = field(default_factory=Spending)
    error: str | None = None
    error_kind: ErrorKind | None = None
    exceeded: str | None = None
    overrides_tag: str | None = None
    overridden: bool = False
    stale: tuple[str, ...] = ()
    configuration_hash: str = ""
    latency_ms: float = 0.0
    completed_at: datetime = field(default_factory=now)

    @property
    def success(self) -> bool:
        """Whether there is an answer."""
        return self.error is None

    def to_json(self) -> dict[str, Any]:
        """The form that travels."""
        return {
            "request_id": str(self.request_id),
            "output": None if self.output is None else self.output.to_json(),
            "usage": reading.spending_json(self.usage),
            "error": self.error,
            "error_kind": None if self.error_kind is None else self.error_kind.value,
            "exceeded": self.exceeded,
            "overrides_tag": self.overrides_tag,
            "overridden": self.overridden,
            "stale": list(self.stale),
            "configuration_hash": self.configuration_hash,
            "latency_ms": self.latency_ms,
            "completed_at": self.completed_at.isoformat(),
        }

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> MainLoopResult:
        """From the form that travels."""
        return cls(
            request_id=UUID(value["request_id"]),
            output=reading.optional(value, "output", reading.output),
            usage=reading.spending(value["usage"]),
            error=reading.optional(value, "error", reading.text),
            error_kind=reading.optional(value, "error_kind", ErrorKind),
            exceeded=reading.optional(value, "exceeded", reading.text),
            overrides_tag=reading.optional(value, "overrides_tag", reading.text),
            overridden=reading.of_type(value, "overridden", bool),
            stale=tuple(map(reading.text, value["stale"])),
            configuration_hash=reading.of_type(value, "configuration_hash", str),
            latency_ms=reading.number(value["latency_ms"]),
            completed_at=reading.moment(value["completed_at"]),
        )


MESSAGE_TYPES.declare(
    MainLoopRequest,
    "burnish.main-request",
    dump=MainLoopRequest.to_json,
    load=MainLoopRequest.of,
)
MESSAGE_TYPES.declare(
    MainLoopResult, "burnish.main-result", dump=MainLoopResult.to_json, load=MainLoopResult.of
)
