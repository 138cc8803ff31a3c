"""What overviews of optimizations show: a little of many, and every experiment of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from burnish.domain.experiments import ExperimentStatus, ExperimentType
from burnish.domain.optimization import Candidate
from burnish.domain.optimization_records import Event, EventType


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


class RunInsights(Protocol):
    """Reads overviews. Of what does not exist there is nothing."""

    async def spans(self, optimization_ids: Sequence[str]) -> dict[str, RunSpan]:
        """When each began and ended, by id."""
        ...

    async def documents(
        self, optimization_ids: Sequence[str], name: Literal["result", "checkpoint"]
    ) -> dict[str, Mapping[str, Any]]:
        """The results or checkpoints of those that have one, by id."""
        ...

    async def facets(self) -> RunFacets:
        """What lists can be filtered by."""
        ...

    async def candidate(self, optimization_id: str, candidate_id: str) -> Candidate:
        """One candidate, run or not; UsageError with code `not_found` when there is none."""
        ...

    async def points(
        self, optimization_id: str, *, candidate_id: str | None = None
    ) -> list[RunPoint]:
        """Every trial and mini-batch by number, a trial before the mini-batches of its candidate.

        With a candidate, only those of it.
        """
        ...

    async def score_moments(self, experiment_ids: Sequence[str]) -> dict[str, ScoreMoments]:
        """How scores spread over items, by experiment; repeats count as their mean."""
        ...

    async def held_out(self, optimization_id: str) -> list[HeldOutRun]:
        """The experiments that confirmed candidates, the oldest first."""
        ...

    async def events(
        self,
        optimization_id: str,
        *,
        types: Sequence[EventType] = (),
        newest: bool = False,
        limit: int = 50,
        after: int | None = None,
    ) -> list[Event]:
        """Events past a number; with `newest`, the newest first and those before it."""
        ...
