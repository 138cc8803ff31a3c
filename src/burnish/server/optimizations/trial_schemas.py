"""Trials as responses: items, lineage, front, rejections, columns for charts, and the log of events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, Field

from burnish.app.report.runs.points import PointTable
from burnish.domain import (
    Candidate,
    EventType,
    ExperimentStatus,
    ExperimentType,
    TrialResult,
)
from burnish.domain.optimizations.pages import ItemLine, LineageNode, TrialLine
from burnish.server.evaluations.schemas import ItemRefinement, RoundView
from burnish.server.http.examples import WITH_EXAMPLES, add_configuration
from burnish.server.http.responses import Page, View
from burnish.server.optimizations.schemas import Usage

Kind = Literal["baseline", "trial", "mini-batch"]


class TrialView(View):
    """A trial, or with `type` mini-batch a look at some items that can never be best."""

    candidate_id: str
    number: int = Field(description="Counts up within the optimization; the baseline is 0.")
    step_index: int
    parent_candidate_ids: tuple[str, ...]
    type: ExperimentType
    status: ExperimentStatus
    score: float | None
    items: int
    passed: int
    failed: int
    pass_rate: float
    errors: int = Field(default=0, description="Runs that ended in an error.")
    missing: int = Field(
        default=0,
        description="Runs without an answer for reasons outside the agent: they count in no score.",
    )
    cost_usd: float | None
    avg_latency_ms: float | None
    avg_ttft_ms: float | None
    avg_tokens: float | None
    avg_cost_usd: float | None
    error: str | None
    rationale: str | None
    experiment_id: str


class TrialDetail(TrialView):
    """A trial with the configuration that it ran."""

    configuration: dict[str, Any] = Field(json_schema_extra=add_configuration)
    configuration_hash: str
    mask_id: str

    @classmethod
    def of_candidate(cls, candidate: Candidate, trial: TrialResult) -> TrialDetail:
        """From both records."""
        summary = trial.summary
        return cls.read(
            candidate,
            trial,
            summary,
            candidate_id=candidate.id,
            score=trial.objective_score,
            items=summary.total_items,
            passed=summary.passed_items,
            failed=summary.failed_items,
            errors=summary.error_items,
            missing=summary.missing_items,
            cost_usd=summary.total_cost,
            configuration=candidate.configuration.to_json(),
            configuration_hash=candidate.configuration.hash,
        )


class TrialPage(Page[TrialView]):
    """Some trials; `next_cursor` is None on the last page."""


def trial_row(line: TrialLine) -> dict[str, Any]:
    """A `TrialView` as plain values: the database has checked them, and models take their time."""
    return {
        "candidate_id": line.candidate_id,
        "number": line.number,
        "step_index": line.step_index,
        "parent_candidate_ids": line.parent_candidate_ids,
        "type": line.type,
        "status": line.status,
        "score": line.objective_score,
        "items": line.total_items,
        "passed": line.passed_items,
        "failed": line.failed_items,
        "pass_rate": line.pass_rate,
        "errors": line.error_items,
        "missing": line.missing_items,
        "cost_usd": line.total_cost,
        "avg_latency_ms": line.avg_latency_ms,
        "avg_ttft_ms": line.avg_ttft_ms,
        "avg_tokens": line.avg_tokens,
        "avg_cost_usd": line.avg_cost_usd,
        "error": line.error,
        "rationale": line.rationale,
        "experiment_id": line.experiment_id,
    }


class ScoreView(View):
    """What one scorer says about one output."""

    name: str
    value: float
    passed: bool | None
    reason: str
    error: str | None
    step: int | None = Field(
        default=None, description="The step of the transcript that it finds wrong, from 1."
    )


class ItemView(View):
    """One run of an item: what went in, what came out, and how it was judged."""

    item_id: str
    repeat: int
    split: str | None
    input: dict[str, Any] | None = Field(description="The row of the dataset; None if not stored.")
    output: dict[str, Any] | None = Field(description="The agent's answer; None after an error.")
    score: float
    passed: bool
    scores: list[ScoreView]
    error: dict[str, str] | None
    latency_ms: float
    cached: bool
    usage: Usage
    refinement: ItemRefinement | None = Field(
        description="What its rounds came to; None where outputs are not refined."
    )
    rounds: list[RoundView] = Field(description="All rounds of its output, in order.")

    @classmethod
    def of(cls, line: ItemLine) -> ItemView:
        """From a line of a page."""
        result = line.result
        return cls.read(
            result,
            line,
            input=line.data,
            output=None if result.output is None else result.output.to_json(),
            scores=[ScoreView.read(one) for one in result.scores],
            error=None if result.error is None else result.error.to_json(),
            usage=Usage.model_validate(result.spending.total.to_json()),
            refinement=None if (made := result.refinement) is None else ItemRefinement.of(made),
            rounds=[RoundView.of(one) for one in line.rounds],
        )


class ItemPage(Page[ItemView]):
    """Some runs of items; `next_cursor` is None on the last page."""


class GraphNode(BaseModel):
    """A candidate in the lineage; status and score are None until it has a trial."""

    id: str
    number: int
    step_index: int
    parent_candidate_ids: tuple[str, ...]
    status: ExperimentStatus | None
    score: float | None
    baseline: bool
    best: bool
    rationale: str | None
    experiment_id: str | None


class GraphEdge(BaseModel):
    """From a parent to its child."""

    source: str
    target: str


class Graph(BaseModel):
    """Which candidate came from which."""

    model_config = WITH_EXAMPLES

    nodes: list[GraphNode]
    edges: list[GraphEdge]


def graph_rows(nodes: Sequence[LineageNode], best: str | None) -> dict[str, Any]:
    """A `Graph` as plain values, of which there may be thousands."""
    return {
        "nodes": [
            {
                "id": one.id,
                "number": one.number,
                "step_index": one.step_index,
                "parent_candidate_ids": one.parent_candidate_ids,
                "status": one.status,
                "score": one.score,
                "baseline": one.number == 0,
                "best": one.id == best,
                "rationale": one.rationale,
                "experiment_id": one.experiment_id,
            }
            for one in nodes
        ],
        "edges": [
            {"source": parent, "target": one.id}
            for one in nodes
            for parent in one.parent_candidate_ids
        ],
    }


class FrontPoint(BaseModel):
    """A candidate that no other beats in score and in what one evaluation takes."""

    candidate_id: str
    number: int
    score: float
    tokens: float | None
    cost_usd: float | None
    latency_ms: float | None
    utility: float | None = Field(default=None, description="Where the objective has weights.")
    model: str | None = Field(
        default=None, description="The one that its configuration names, where the run may choose."
    )


class Front(BaseModel):
    """From cheap to dear."""

    points: list[FrontPoint]


class RejectedProposal(BaseModel):
    """What was proposed, as far as it could be stored; None in runs of older versions."""

    configuration: Any = None
    rationale: Any = None
    parent_candidate_ids: Any = None
    duplicate_of: str | None = Field(default=None, description="The candidate that it repeats.")


class RejectionView(View):
    """A proposal that was not run, and why."""

    step_index: int
    proposed_index: int
    reason_code: str = Field(examples=["duplicate", "placeholder_dropped"])
    message: str
    configuration_hash: str | None
    created_at: str
    proposal: RejectedProposal | None = None


class RejectionPage(Page[RejectionView]):
    """Some rejections; `next_cursor` is None on the last page."""


class PointColumns(BaseModel):
    """Columns of one length: the same index is the same experiment."""

    candidate_id: list[str]
    number: list[int] = Field(description="The candidate's; the baseline is 0.")
    step_index: list[int]
    parents: list[list[int]] = Field(description="Numbers of the candidates it came from.")
    kind: list[Kind]
    status: list[ExperimentStatus]
    score: list[float | None]
    ci_low: list[float | None] = Field(description="Bounds of the score's 95 % interval.")
    ci_high: list[float | None]
    items: list[int]
    passed: list[int]
    pass_rate: list[float]
    evaluations: list[int | None] = Field(
        description="Item runs of all experiments that had ended with it; None while it runs."
    )
    cost_usd: list[float | None]
    cost_so_far_usd: list[float | None]
    avg_tokens: list[float | None]
    avg_latency_ms: list[float | None]
    avg_cost_usd: list[float | None]
    created_at: list[str | None]
    finished_at: list[str | None]
    rationale: list[str | None] = Field(description="On one line, at most 160 characters.")
    error: list[str | None] = Field(description="On one line, at most 160 characters.")
    experiment_id: list[str] = Field(description="What tells rows apart.")
    model: list[str | None] = Field(
        default_factory=list, description="The one that answers, where the run may choose."
    )


class Points(BaseModel):
    """All experiments of a search, by number; a trial comes before its candidate's mini-batches."""

    model_config = WITH_EXAMPLES

    optimization_id: str
    last_event_id: int = Field(description="Send it as `since` to get only what changed after it.")
    best_candidate_id: str | None
    count: int
    columns: PointColumns


def point_rows(table: PointTable) -> dict[str, Any]:
    """`Points` as plain values, of which there may be thousands."""
    return {
        "optimization_id": table.record.id,
        "last_event_id": table.position,
        "best_candidate_id": table.record.best_candidate_id,
        "count": table.count,
        "columns": table.columns,
    }


class EventView(View):
    """Something that happened, as on the stream; `sequence` is its number in its run."""

    optimization_id: str
    sequence: int
    type: EventType
    created_at: str
    payload: dict[str, Any]


class EventPage(Page[EventView]):
    """Some events; `next_cursor` is None on the last page."""
