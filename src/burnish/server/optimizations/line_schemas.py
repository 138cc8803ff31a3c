"""Optimizations as lines of a list, and what a list can be filtered by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from burnish.app.report.run_lines import RunLine
from burnish.domain import OptimizationStatus
from burnish.domain.run_insights import RunFacets
from burnish.server.http import examples
from burnish.server.http.responses import View


class Change(BaseModel):
    """The best against the baseline. Bounds are of a 95 % interval, once the two were compared."""

    delta: float
    ci_low: float | None = None
    ci_high: float | None = None
    p_value: float | None = None
    held_out: bool = Field(description="Whether it is on items that the search never saw.")
    items: int | None = Field(default=None, description="How many held-out items there were.")


class SparkPoint(BaseModel):
    """The best score after so many evaluations."""

    evaluations: int
    score: float


class OptimizationLine(View):
    """One optimization in a list. Scores are None while they are not known."""

    model_config = ConfigDict(json_schema_extra={"examples": [examples.LINE]})

    optimization_id: str
    name: str
    status: OptimizationStatus
    stop_reason: str | None
    agent: str
    suite: str
    optimizer: str
    seed: int
    baseline_score: float | None
    best_score: float | None
    best_candidate_id: str | None
    trials: int = Field(description="Trials so far, without the baseline and mini-batches.")
    created_at: str
    updated_at: str
    owned: bool = Field(description="Whether somebody works on it at the moment.")
    change: Change | None
    calls: int = Field(description="Of all models for all purposes, as are tokens and cost.")
    tokens: int
    cost_usd: float | None = Field(description="None where some call has no known price.")
    started_at: str | None
    ended_at: str | None
    duration_seconds: float | None = Field(description="From start to end, or until now.")
    spark: list[SparkPoint] = Field(description="Best so far: at most 40 points.")

    @classmethod
    def of(cls, line: RunLine) -> OptimizationLine:
        """From what was read."""
        return cls(**line_fields(line))


class OptimizationPage(BaseModel):
    """Some optimizations; `next_cursor` is None on the last page."""

    items: list[OptimizationLine]
    next_cursor: str | None = Field(examples=["WyItY3JlYXRlZF9hdCIsMV0", None])


class Facet(BaseModel):
    """A value, and how many optimizations have it."""

    value: str
    count: int


class Facets(BaseModel):
    """What there is to filter a list of optimizations by."""

    statuses: list[Facet]
    agents: list[Facet]
    suites: list[Facet]
    optimizers: list[Facet]

    @classmethod
    def of(cls, facets: RunFacets) -> Facets:
        """From the counts."""
        return cls(**{name: _counted(getattr(facets, name)) for name in cls.model_fields})


def line_fields(line: RunLine, *, trials: int | None = None) -> dict[str, Any]:
    """The fields of a line."""
    record, usage = line.record, line.usage
    return {
        "optimization_id": record.id,
        "name": record.name,
        "status": record.status,
        "stop_reason": record.stop_reason,
        "agent": record.agent_name,
        "suite": record.suite_name,
        "optimizer": record.optimizer_name,
        "seed": record.seed,
        "baseline_score": record.baseline_score,
        "best_score": record.best_score,
        "best_candidate_id": record.best_candidate_id,
        "trials": record.trials if trials is None else trials,
        "created_at": record.created_at,
        "updated_at": record.updated_at,
        "owned": line.owned,
        "change": None if line.change is None else dict(line.change),
        "calls": usage["calls"],
        "tokens": usage["input_tokens"] + usage["output_tokens"],
        "cost_usd": usage["cost_usd"],
        "started_at": line.started_at,
        "ended_at": line.ended_at,
        "duration_seconds": line.duration_seconds,
        "spark": [{"evaluations": at, "score": score} for at, score in line.spark],
    }


def _counted(counts: Mapping[str, int]) -> list[Facet]:
    return [Facet(value=value, count=count) for value, count in counts.items()]
