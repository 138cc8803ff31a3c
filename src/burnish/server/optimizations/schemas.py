"""Optimizations as responses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from burnish.app.report.run_evidence import evidence_of, explanation_of
from burnish.app.report.run_summary import RunSummary, Scored
from burnish.domain import ExperimentStatus, OptimizationRecord
from burnish.server.http import examples
from burnish.server.optimizations.evidence_schemas import BudgetView, Evidence, ScoredCandidate
from burnish.server.optimizations.line_schemas import OptimizationLine, line_fields

COMPRESS = "compress"


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

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    **examples.LINE,
                    "objective": "exact_match",
                    "cancel_requested": False,
                    "framework_error": None,
                    "last_event_id": 41,
                    "counters": {
                        "running": 1,
                        "completed": 7,
                        "pruned": 1,
                        "failed": 0,
                        "rejected": 2,
                        "candidates": 10,
                        "mini_batches": 0,
                    },
                    "items": {"planned": 500, "finished": 462},
                    "baseline": {
                        **examples.SCORED,
                        "candidate_id": "3c9e8a10-0",
                        "number": 0,
                        "score": 0.72,
                    },
                    "best": examples.SCORED,
                    "usage": {**examples.USAGE, "by_purpose": {"agent": examples.USAGE}},
                    "budget": examples.BUDGET,
                    "evidence": None,
                    "explanation": None,
                    "compression": False,
                    "settings": {"name": "edits"},
                    "result": None,
                }
            ]
        }
    )

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
