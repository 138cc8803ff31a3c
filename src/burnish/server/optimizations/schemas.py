"""Optimizations as responses: lines of a list, its filters, and one run with budget and evidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from burnish.app.report.runs.evidence import COMPRESS, evidence_of, explanation_of
from burnish.app.report.runs.lines import RunLine
from burnish.app.report.runs.summary import BudgetUse, RunSummary, Scored
from burnish.domain import (
    Candidate,
    ExperimentStatus,
    OptimizationRecord,
    OptimizationStatus,
    TrialResult,
)
from burnish.domain.optimizations.pages import RunFacets
from burnish.server.http.examples import add_configuration
from burnish.server.http.responses import View


class Amounts(BaseModel):
    """What a budget limits."""

    trials: float | None
    evaluations: float | None
    calls: float | None
    tokens: float | None
    cost_usd: float | None
    seconds: float | None


class BudgetView(BaseModel):
    """Limits of None are none, and nothing is left of those; a used cost of None is unknown."""

    limits: Amounts
    used: Amounts
    left: Amounts

    @classmethod
    def of(cls, use: BudgetUse) -> BudgetView:
        """From what was read."""
        return cls(limits=Amounts(**use.limits), used=Amounts(**use.used), left=Amounts(**use.left))


class Overruled(BaseModel):
    """A candidate that scored higher on the items of the search and is not the winner."""

    candidate_id: str
    number: int
    score: float
    why: str = Field(description="Why it is not the winner.")


class Evidence(BaseModel):
    """The winner against the baseline, item by item, with a 95 % interval."""

    held_out: bool = Field(description="Whether it is on items that the search never saw.")
    items: int | None
    baseline_score: float | None
    best_score: float | None
    delta: float
    ci_low: float
    ci_high: float
    p_value: float
    fixed: int
    broken: int
    proven: bool = Field(description="The items leave no reasonable doubt.")
    refuted: bool = Field(description="The items speak against the winner.")
    overruled: Overruled | None = Field(
        default=None,
        description="Who scored higher, where the optimizer chose by more than that score.",
    )


class ScoredCandidate(View):
    """A candidate with its score on the items of the search, and what one answer of it takes."""

    candidate_id: str
    number: int
    score: float | None
    configuration: dict[str, Any] = Field(json_schema_extra=add_configuration)
    status: ExperimentStatus
    items: int
    passed: int
    pass_rate: float
    ci_low: float | None
    ci_high: float | None
    avg_tokens: float | None
    avg_latency_ms: float | None
    avg_cost_usd: float | None
    prompt_tokens: int = Field(description="Of sections and examples, with nothing filled in.")

    @classmethod
    def of(
        cls,
        candidate: Candidate,
        trial: TrialResult,
        *,
        interval: tuple[float, float] | None,
        prompt_tokens: int,
    ) -> ScoredCandidate:
        """From both records."""
        summary = trial.summary
        return cls(
            candidate_id=candidate.id,
            number=candidate.number,
            score=trial.objective_score,
            configuration=candidate.configuration.to_json(),
            status=trial.status,
            items=summary.total_items,
            passed=summary.passed_items,
            pass_rate=summary.pass_rate,
            ci_low=None if interval is None else interval[0],
            ci_high=None if interval is None else interval[1],
            avg_tokens=summary.avg_tokens,
            avg_latency_ms=summary.avg_latency_ms,
            avg_cost_usd=summary.avg_cost_usd,
            prompt_tokens=prompt_tokens,
        )


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


class Counters(BaseModel):
    """How many candidates of the search are where."""

    running: int
    completed: int
    pruned: int
    failed: int = Field(description="Ended without a score: failed, cancelled or timed out.")
    rejected: int
    candidates: int = Field(description="Accepted so far, the baseline included.")
    mini_batches: int


class Items(BaseModel):
    """Runs of items in all experiments together: items times repeats."""

    planned: int
    finished: int


class Usage(BaseModel):
    """What was spent; a cost of None means that some call has no known price."""

    calls: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    cost_usd: float | None


class Spent(Usage):
    """In total and by purpose, the optimizer's own calls included."""

    by_purpose: dict[str, Usage]


class OptimizationView(OptimizationLine):
    """One optimization with all that a summary shows, as of the event `last_event_id`."""

    objective: str
    cancel_requested: bool
    framework_error: dict[str, Any] | None = Field(
        description="Why it failed: code, message, fix, retryable."
    )
    last_event_id: int = Field(
        description="Send it as Last-Event-ID to get what happens after this snapshot."
    )
    counters: Counters
    items: Items
    baseline: ScoredCandidate | None
    best: ScoredCandidate | None
    usage: Spent
    budget: BudgetView
    evidence: Evidence | None
    explanation: str | None = Field(
        description="Why it is empty, failed, was stopped or found nothing; None when all is well."
    )
    compression: bool = Field(description="Whether it has a report of a compression.")
    settings: dict[str, Any] = Field(description="The optimizer with its settings.")
    result: dict[str, Any] | None = Field(
        description="The document that `burnish optimize --json` prints; None until it has ended."
    )

    @classmethod
    def of_summary(cls, summary: RunSummary) -> OptimizationView:
        """From what was read."""
        record = summary.record
        return cls(
            **line_fields(summary.line, trials=sum(summary.counts.trials.values())),
            objective=record.objective_name,
            cancel_requested=record.cancel_requested,
            framework_error=_plain(record.framework_error),
            last_event_id=summary.position,
            counters=_counters(summary),
            items=Items(
                planned=summary.counts.planned_items, finished=summary.counts.finished_items
            ),
            baseline=_scored(summary, summary.baseline),
            best=_scored(summary, summary.best),
            usage=Spent.model_validate(summary.line.usage),
            budget=BudgetView.of(summary.budget),
            evidence=_evidence(summary),
            explanation=explanation_of(record, owned=summary.line.owned),
            compression=record.optimizer_name == COMPRESS,
            settings=_settings(record),
            result=_plain(record.result),
        )


def _counters(summary: RunSummary) -> Counters:
    counts = summary.counts
    by_status = counts.trials

    def number(*statuses: ExperimentStatus) -> int:
        return sum(by_status.get(one, 0) for one in statuses)

    return Counters(
        running=number(ExperimentStatus.PENDING, ExperimentStatus.RUNNING),
        completed=number(ExperimentStatus.COMPLETED),
        pruned=number(ExperimentStatus.PRUNED),
        failed=number(
            ExperimentStatus.FAILED, ExperimentStatus.CANCELLED, ExperimentStatus.TIMEOUT
        ),
        rejected=counts.rejections,
        candidates=counts.candidates,
        mini_batches=counts.mini_batches,
    )


def _scored(summary: RunSummary, found: Scored | None) -> ScoredCandidate | None:
    if found is None:
        return None
    candidate, trial = found
    return ScoredCandidate.of(
        candidate,
        trial,
        interval=summary.intervals.get(trial.experiment_id),
        prompt_tokens=summary.prompt_tokens[candidate.id],
    )


def _evidence(summary: RunSummary) -> Evidence | None:
    found = evidence_of(summary.record)
    return None if found is None else Evidence.model_validate(found)


def _settings(record: OptimizationRecord) -> dict[str, Any]:
    settings = (record.spec.get("settings") or {}).get("optimizer") or {}
    return {"name": record.optimizer_name, **settings}


def _plain(document: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if document is None else dict(document)


def _counted(counts: Mapping[str, int]) -> list[Facet]:
    return [Facet(value=value, count=count) for value, count in counts.items()]
