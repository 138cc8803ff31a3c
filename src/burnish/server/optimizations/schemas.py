"""Optimizations as responses: lines of a list, its filters, and one run with budget and evidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import BaseModel, Field

from burnish.app.optimize.client_lease import is_of_client
from burnish.app.report.runs.evidence import COMPRESS, evidence_of, explanation_of
from burnish.app.report.runs.lines import RunLine, python_call
from burnish.app.report.runs.search_report import search_of
from burnish.app.report.runs.summary import RunSummary, Scored
from burnish.domain import ExperimentStatus, OptimizationStatus
from burnish.domain.optimizations.pages import RunCounts, RunFacets
from burnish.optimization.events import tally
from burnish.server.http.examples import add_configuration
from burnish.server.http.responses import Page, View


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


class Overruled(BaseModel):
    """A candidate that is not the winner though it scored higher, or though it was chosen."""

    candidate_id: str
    number: int
    score: float
    by: Literal["optimizer", "evidence"] = Field(
        description="`optimizer`: it chose another than the best score. `evidence`: the optimizer "
        "chose this one, and the items of the search are against it."
    )
    why: str = Field(description="Why it is not the winner.")


class Evidence(BaseModel):
    """The winner against the baseline, item by item, with a 95 % interval."""

    held_out: bool = Field(description="Whether it is on items that the search never saw.")
    items: int | None
    of_items: int | None = Field(
        default=None,
        description="How many are held out; more than `items` where the budget left room for a part.",
    )
    detectable: float | None = Field(
        default=None, description="The difference that so many items show four times in five."
    )
    missing: int = Field(
        default=0,
        description="Pairs that were left out: an answer never came, for reasons outside the agent. "
        "With more than 5 % of them nothing is proven.",
    )
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
        description="Who is not the winner though it scored higher, or though it was chosen.",
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
    errors: int = Field(default=0, description="Runs that ended in an error.")
    missing: int = Field(
        default=0,
        description="Runs without an answer for reasons outside the agent: they count in no score.",
    )
    ci_low: float | None
    ci_high: float | None
    avg_tokens: float | None
    avg_latency_ms: float | None
    avg_cost_usd: float | None
    prompt_tokens: int = Field(description="Of sections and examples, with nothing filled in.")


class Change(BaseModel):
    """The best against the baseline. Bounds are of a 95 % interval, once the two were compared."""

    delta: float
    ci_low: float | None = None
    ci_high: float | None = None
    p_value: float | None = None
    held_out: bool = Field(description="Whether it is on items that the search never saw.")
    items: int | None = Field(default=None, description="How many held-out items there were.")
    baseline_score: float | None = Field(default=None, description="On the held-out items.")
    best_score: float | None = Field(default=None, description="On the held-out items.")


class SparkPoint(BaseModel):
    """The best score after so many evaluations."""

    evaluations: int
    score: float


class OptimizationLine(View):
    """One optimization in a list. Scores are None while they are not known."""

    optimization_id: str
    name: str
    status: OptimizationStatus
    state: str = Field(
        description="The status, or `interrupted` where it is `running` and nobody works on it.",
        examples=["running", "interrupted"],
    )
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
    def of(cls, line: RunLine, **others: Any) -> Self:
        """From what was read, and what else a summary has."""
        record, usage = line.record, line.usage
        return cls.read(
            line,
            record,
            optimization_id=record.id,
            agent=record.agent_name,
            suite=record.suite_name,
            optimizer=record.optimizer_name,
            calls=usage["calls"],
            tokens=usage["input_tokens"] + usage["output_tokens"],
            cost_usd=usage["cost_usd"],
            spark=[{"evaluations": at, "score": score} for at, score in line.spark],
            **others,
        )


class OptimizationPage(Page[OptimizationLine]):
    """Some optimizations; `next_cursor` is None on the last page."""

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


class Counters(BaseModel):
    """How many candidates of the search are where."""

    running: int
    completed: int
    pruned: int
    failed: int = Field(description="Ended without a score: failed or timed out.")
    cancelled: int
    proposed: int = Field(description="By the optimizer, the rejected ones included.")
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
    cached_share: float | None = Field(
        default=None, description="Of the input tokens, those that the provider had; None of none."
    )
    cost_usd: float | None


class Spent(Usage):
    """In total and by purpose, the optimizer's own calls included."""

    by_purpose: dict[str, Usage]


class BlockWorth(BaseModel):
    """What a block of a text adds to the score, estimated from pairs of candidates."""

    section: str
    text: str
    in_winner: bool
    worth: float
    low: float = Field(description="Bounds of the 95 % interval.")
    high: float
    items: int = Field(description="Items that both of a pair ran.")


class SearchReport(BaseModel):
    """What the search learnt, by the optimizer's own word."""

    words: list[str]
    blocks: list[BlockWorth]


class KeptOptimizer(BaseModel):
    """The optimizer of an agent that started a run, and the version of the agent that it began from."""

    agent_name: str
    optimizer_name: str
    optimizer_version: int
    base_config_version: int


class WaitingBatch(BaseModel):
    """A batch of model requests that a run waits for."""

    batch_id: str | None = Field(description="The vendor's name of it; None until it is known.")
    model: str
    requests: int
    answered: int = Field(description="As the vendor said at `looked_at`.")
    since: str = Field(description="When it was sent.")
    looked_at: str | None


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
    search: SearchReport | None = Field(
        description="What the search learnt; None where its optimizer tells nothing."
    )
    explanation: str | None = Field(
        description="Why it is empty, failed, was stopped or found nothing; None when all is well."
    )
    compression: bool = Field(description="Whether it has a report of a compression.")
    by_client: bool = Field(
        description="Whether a program outside, such as an Opik client, runs it: it cannot be "
        "resumed or copied here, and its seed is not known."
    )
    python_call: str | None = Field(
        description="The call that goes on with a run of a Python program, which cannot be resumed "
        "or copied here: only that program has its functions. None for other runs."
    )
    settings: dict[str, Any] = Field(description="The optimizer with its settings.")
    waiting: list[WaitingBatch] = Field(
        description="Batches that vendors are not through with; empty once it has ended."
    )
    kept_optimizer: KeptOptimizer | None = Field(
        description="What started it, where that is an optimizer kept with the agent."
    )
    result: dict[str, Any] | None = Field(
        description="The document that `burnish optimize --json` prints; None until it has ended."
    )

    @classmethod
    def of_summary(cls, summary: RunSummary) -> OptimizationView:
        """From what was read."""
        record = summary.record
        settings = record.spec.get("settings") or {}
        return cls.of(
            summary.line,
            trials=sum(summary.counts.trials.values()),
            objective=record.objective_name,
            last_event_id=summary.position,
            counters=_counters(summary.counts, record.checkpoint),
            items=Items(
                planned=summary.counts.planned_items, finished=summary.counts.finished_items
            ),
            baseline=_scored(summary, summary.baseline),
            best=_scored(summary, summary.best),
            budget=BudgetView.model_validate(summary.budget, from_attributes=True),
            evidence=evidence_of(record),
            search=search_of(record.result),
            explanation=explanation_of(record, owned=summary.line.owned),
            compression=record.optimizer_name == COMPRESS,
            by_client=is_of_client(record),
            python_call=python_call(record),
            waiting=[WaitingBatch.model_validate(one) for one in summary.waiting],
            settings={"name": record.optimizer_name, **(settings.get("optimizer") or {})},
            kept_optimizer=None
            if summary.kept_optimizer is None
            else KeptOptimizer.model_validate(summary.kept_optimizer, from_attributes=True),
        )


def _counters(counts: RunCounts, checkpoint: Mapping[str, Any] | None) -> Counters:
    ended = [status for status, number in counts.trials.items() for _ in range(number)]
    return Counters(
        **tally(ended),
        proposed=(checkpoint or {}).get("proposed", 0),
        rejected=counts.rejections,
        candidates=counts.candidates,
        mini_batches=counts.mini_batches,
    )


def _scored(summary: RunSummary, found: Scored | None) -> ScoredCandidate | None:
    if found is None:
        return None
    candidate, trial = found
    low, high = summary.intervals.get(trial.experiment_id) or (None, None)
    return ScoredCandidate.read(
        candidate,
        trial,
        trial.summary,
        candidate_id=candidate.id,
        score=trial.objective_score,
        configuration=candidate.configuration.to_json(),
        items=trial.summary.total_items,
        passed=trial.summary.passed_items,
        errors=trial.summary.error_items,
        missing=trial.summary.missing_items,
        ci_low=low,
        ci_high=high,
        prompt_tokens=summary.prompt_tokens[candidate.id],
    )


def _counted(counts: Mapping[str, int]) -> list[Facet]:
    return [Facet(value=value, count=count) for value, count in counts.items()]
