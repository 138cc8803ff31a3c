"""One configuration run over a suite or part of it: records and their summary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from burnish.domain.configuration import Configuration
from burnish.domain.items import AgentOutput, Score
from burnish.domain.refinement import Refinement
from burnish.domain.usage import Purpose, Spending


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

    @property
    def outside(self) -> bool:
        """Whether the agent is not to blame: another try may well succeed."""
        return self in (ErrorKind.INFRASTRUCTURE, ErrorKind.TIMEOUT)


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
    item_hash: str
    repeat: int
    score: float
    passed: bool
    output: AgentOutput | None
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
        return self.spending.without(Purpose.JUDGE).without(Purpose.REFINE) + self.reused


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentSummary:
    """What an experiment's item results amount to. Rates divide by all runs, errors included.

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
