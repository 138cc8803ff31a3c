"""What overviews of optimizations show: a little of many, and every experiment of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from burnish.domain.experiments import ExperimentStatus, ExperimentType


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
class RunPoint:
    """One experiment of a search: a trial, or with a type of its own a mini-batch.

    The times are its experiment's; `updated_at` is when it ended, once its status is final.
    """

    number: int
    candidate_id: str
    step_index: int
    parent_candidate_ids: tuple[str, ...]
    rationale: str | None
    experiment_id: str
    type: ExperimentType
    status: ExperimentStatus
    score: float | None
    total_items: int
    passed_items: int
    failed_items: int
    pass_rate: float
    total_cost: float | None
    avg_latency_ms: float | None
    avg_tokens: float | None
    avg_cost_usd: float | None
    error: str | None
    created_at: str | None
    updated_at: str | None


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
