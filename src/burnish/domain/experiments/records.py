"""Experiments: one configuration run over a suite or part of it, and the context of running code."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from burnish.domain.configuration import Configuration
from burnish.domain.experiments.items import AgentOutput, Score
from burnish.domain.experiments.refinement import Refinement
from burnish.domain.usage import Purpose, Spending

DEFAULT_TAG = "stable"


class ExperimentType(StrEnum):
    """Why an experiment was run. Only a trial can become best."""

    REGULAR = "regular"
    TRIAL = "trial"
    MINI_BATCH = "mini-batch"


class ExperimentStatus(StrEnum):
    """Where an experiment stands; all but the first two are final."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TIMEOUT = "timeout"
    PRUNED = "pruned"

    @property
    def final(self) -> bool:
        """Whether nothing more will be written."""
        return self not in (ExperimentStatus.PENDING, ExperimentStatus.RUNNING)


class ErrorKind(StrEnum):
    """Who an item's error is about."""

    AGENT = "agent"
    INFRASTRUCTURE = "infrastructure"
    TIMEOUT = "timeout"
    SCORER = "scorer"
    # Nobody was to judge it, since the criteria are missing: neither an error nor a score.
    SKIPPED = "skipped"

    @property
    def outside(self) -> bool:
        """Whether the agent is not to blame: another try may well succeed."""
        return self in (ErrorKind.INFRASTRUCTURE, ErrorKind.TIMEOUT)

    @property
    def scored(self) -> bool:
        """Whether the run counts in the score, as 0."""
        return not self.outside and self is not ErrorKind.SKIPPED


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemError:
    """Why an item has no output or no verdict."""

    kind: ErrorKind
    message: str

    def to_json(self) -> dict[str, str]:
        """The stored form."""
        return {"kind": self.kind.value, "message": self.message}


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemResult:
    """One item, run once. An error is a failed item with score 0, never a missing one.

    `spending` was paid for this run; `reused` was paid before, for what a cache answered. Where the
    output was refined in rounds, it and its scores are those of the answer's round, and `refinement`
    says what came of it.
    """

    item_id: str
    item_hash: str = ""
    repeat: int = 0
    score: float
    passed: bool
    output: AgentOutput | None = None
    scores: tuple[Score, ...] = ()
    error: ItemError | None = None
    spending: Spending = field(default_factory=Spending)
    latency_ms: float = 0.0
    cached: bool = False
    reused: Spending = field(default_factory=Spending)
    refinement: Refinement | None = None

    @property
    def footprint(self) -> Spending:
        """What the agent's answer takes whenever it is paid for.

        Judging and refining it is not the agent's.
        """
        own = self.spending
        for other in (Purpose.USER, Purpose.JUDGE, Purpose.REFINE):
            own = own.without(other)
        return own + self.reused


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """The record of one experiment. `planned_items` counts runs: items times repeats."""

    id: str
    name: str
    type: ExperimentType
    status: ExperimentStatus
    agent_name: str
    configuration: Configuration
    suite_name: str
    dataset_id: str | None
    planned_items: int | None
    optimization_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    created_at: str = ""
    updated_at: str = ""

    @property
    def limit_reached(self) -> str | None:
        """In words, the limit of its budget that ended it early; None for any other."""
        error = self.metadata.get("error") or {}
        return str(error.get("message")) if error.get("code") == "budget" else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentSummary:
    """What an experiment's item results amount to. Rates divide by all runs, errors included.

    `infrastructure_errors` are runs without an answer for reasons outside the agent: an outage is no
    result, so they count in no score, and without any other run there is none. `skipped` runs were
    not judged, since the criteria are missing: they are no errors, did not fail and have no score.
    `avg_tokens` and `avg_cost_usd` are of the footprints of runs without an error. None is unknown:
    the agent reports no usage, or some call has no known price.
    """

    runs: int
    passed: int
    failed: int
    errors: int
    infrastructure_errors: int
    score: float | None
    pass_rate: float | None
    spending: Spending = field(default_factory=Spending)
    avg_latency_ms: float | None = None
    avg_ttft_ms: float | None = None
    cached: int = 0
    avg_tokens: float | None = None
    avg_cost_usd: float | None = None
    skipped: int = 0

    @property
    def cost_usd(self) -> float | None:
        """What was paid; None where it is unknown, also since the agent reports no usage."""
        unreported = self.measured and self.avg_tokens is None
        return None if unreported else self.spending.total.cost_usd

    @property
    def measured(self) -> bool:
        """Whether any run was answered and judged; where none was, a score of 0 says nothing."""
        return self.errors + self.skipped < self.runs


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentContext:
    """What a request says about its experiment; the record of one is `Experiment`.

    `overrides_tag` names the overrides that the prompt is rendered with, `parent_tag` what they
    build on. `flags` are for the agent's own code.
    """

    id: str
    name: str = ""
    overrides_tag: str = DEFAULT_TAG
    parent_tag: str | None = None
    flags: Mapping[str, bool] = field(default_factory=dict)
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))

    def flag(self, name: str, default: bool = False) -> bool:
        return self.flags.get(name, default)

    def to_json(self) -> dict[str, Any]:
        """The JSON form that `of` reads."""
        return {
            "id": self.id,
            "name": self.name,
            "overrides_tag": self.overrides_tag,
            "parent_tag": self.parent_tag,
            "flags": dict(self.flags),
            "created_at": self.created_at.isoformat(),
        }

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> ExperimentContext:
        """From its JSON form; a field of another type is a TypeError or ValueError."""
        flags = value.get("flags") or {}
        texts = (value["id"], value["name"], value["overrides_tag"])
        if not all(isinstance(text, str) for text in texts):
            raise TypeError("id, name and overrides_tag are text")
        if not all(isinstance(state, bool) for state in flags.values()):
            raise TypeError("flags are true or false")
        return cls(
            id=value["id"],
            name=value["name"],
            overrides_tag=value["overrides_tag"],
            parent_tag=value.get("parent_tag"),
            flags=flags,
            created_at=datetime.fromisoformat(value["created_at"]),
        )


_current: ContextVar[ExperimentContext | None] = ContextVar("burnish_experiment", default=None)


def current_experiment() -> ExperimentContext | None:
    """The experiment that the calling code runs under; None outside of one.

    It holds in async functions, in plain functions that Burnish runs in threads, and in tasks that
    are started from either.
    """
    return _current.get()


@contextlib.contextmanager
def experiment_scope(experiment: ExperimentContext | None) -> Iterator[None]:
    """Within, `current_experiment()` is this one."""
    token = _current.set(experiment)
    try:
        yield
    finally:
        _current.reset(token)
