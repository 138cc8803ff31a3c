"""Pages and overviews of optimizations: parts of them, read without the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from burnish.domain.experiments.records import ExperimentStatus, ExperimentType, ItemResult
from burnish.domain.experiments.refinement import Outcome, Round, RoundEnd
from burnish.domain.json_values import Json
from burnish.domain.optimizations.optimizer import OptimizationStatus


class OptimizationOrder(StrEnum):
    """How a list of optimizations is sorted; a minus sorts downwards."""

    NEWEST = "-created_at"
    OLDEST = "created_at"
    LATEST_CHANGE = "-updated_at"
    EARLIEST_CHANGE = "updated_at"
    BEST_SCORE = "-best_score"
    WORST_SCORE = "best_score"
    NAME = "name"
    NAME_DOWN = "-name"


class TrialOrder(StrEnum):
    """How trials are sorted; a minus sorts downwards."""

    NUMBER = "number"
    NUMBER_DOWN = "-number"
    BEST_SCORE = "-score"
    WORST_SCORE = "score"


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizationFilter:
    """Which optimizations are wanted; what is left empty does not count.

    `text` is part of a name of anything in it, or the beginning of its id. `states` are statuses as
    people read them, which only a look at the owner tells: whoever lists looks.
    """

    statuses: Sequence[OptimizationStatus] = ()
    states: Sequence[str] = ()
    agent: str | None = None
    suite: str | None = None
    optimizer: str | None = None
    name: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialLine:
    """A trial or mini-batch with as much of its candidate as a table shows."""

    number: int
    slot: str
    candidate_id: str
    step_index: int
    parent_candidate_ids: tuple[str, ...]
    rationale: str | None
    experiment_id: str
    type: ExperimentType
    status: ExperimentStatus
    objective_score: float | None
    total_items: int
    passed_items: int
    failed_items: int
    pass_rate: float
    total_cost: float | None
    avg_latency_ms: float | None
    avg_ttft_ms: float | None
    avg_tokens: float | None
    avg_cost_usd: float | None
    error: str | None
    error_items: int = 0
    missing_items: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageNode:
    """A candidate in the graph of who came from whom; without a trial, status and score are None."""

    id: str
    number: int
    step_index: int
    parent_candidate_ids: tuple[str, ...]
    rationale: str | None
    status: ExperimentStatus | None
    score: float | None
    experiment_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCounts:
    """How far an optimization has come, in numbers.

    `trials` are by status and without the baseline. Items are runs: items times repeats.
    """

    trials: Mapping[ExperimentStatus, int] = field(default_factory=dict)
    mini_batches: int = 0
    candidates: int = 0
    rejections: int = 0
    planned_items: int = 0
    finished_items: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemLine:
    """One run of an item, with the row of the dataset that it ran on and its output's rounds."""

    result: ItemResult
    data: Mapping[str, Json] | None = None
    split: str | None = None
    rounds: tuple[Round, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemFilter:
    """Which runs of items are wanted; what is left empty does not count.

    `refined` are those with one refined output at least.
    """

    failing: bool = False
    refined: bool = False
    outcome: Outcome | None = None
    ended: RoundEnd | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpan:
    """When the first and the last event of an optimization were; None before the first."""

    first_event_at: str | None = None
    last_event_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacets:
    """How many optimizations there are by each value of what lists are filtered by."""

    statuses: Mapping[str, int]
    agents: Mapping[str, int]
    suites: Mapping[str, int]
    optimizers: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPoint(TrialLine):
    """A trial or mini-batch with its experiment's times: `updated_at` is when it ended, once final."""

    created_at: str | None
    updated_at: str | None

    @property
    def score(self) -> float | None:
        """As of an experiment."""
        return self.objective_score


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreMoments:
    """The mean of an experiment's item scores, and of their squares, over its items."""

    items: int
    mean: float
    mean_square: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOutRun:
    """A candidate's experiment on held-out items."""

    experiment_id: str
    candidate_id: str
    status: ExperimentStatus
    created_at: str
    updated_at: str
