"""Optimizations as responses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from burnish.bootstrap.run_summary import RunSummary
from burnish.domain import (
    Candidate,
    ExperimentStatus,
    OptimizationRecord,
    OptimizationStatus,
    TrialResult,
)
from burnish.server.schemas import examples
from burnish.server.schemas.views import View


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

    @classmethod
    def of(cls, record: OptimizationRecord) -> OptimizationLine:
        """From its record."""
        return cls(**_line(record))


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


class ScoredCandidate(View):
    """A candidate with its score on the items of the search."""

    candidate_id: str
    number: int
    score: float | None
    configuration: dict[str, Any] = Field(examples=[examples.CONFIGURATION])


class OptimizationView(OptimizationLine):
    """One optimization with all that a summary shows, as of the event `last_event_id`."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    **examples.LINE,
                    "objective": "exact_match",
                    "cancel_requested": False,
                    "owned": True,
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
                        "candidate_id": "3c9e8a10-0",
                        "number": 0,
                        "score": 0.72,
                        "configuration": examples.CONFIGURATION,
                    },
                    "best": {
                        "candidate_id": examples.CANDIDATE_ID,
                        "number": 4,
                        "score": 0.88,
                        "configuration": examples.CONFIGURATION,
                    },
                    "usage": {**examples.USAGE, "by_purpose": {"agent": examples.USAGE}},
                    "result": None,
                }
            ]
        }
    )

    objective: str
    cancel_requested: bool
    owned: bool = Field(description="Whether somebody works on it at the moment.")
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
    result: dict[str, Any] | None = Field(
        description="The document that `burnish optimize --json` prints; None until it has ended."
    )

    @classmethod
    def of_summary(cls, summary: RunSummary) -> OptimizationView:
        """From what was read."""
        record = summary.record
        return cls(
            **_line(record, trials=sum(summary.counts.trials.values())),
            objective=record.objective_name,
            cancel_requested=record.cancel_requested,
            owned=summary.owned,
            framework_error=_plain(record.framework_error),
            last_event_id=summary.position,
            counters=_counters(summary),
            items=Items(
                planned=summary.counts.planned_items, finished=summary.counts.finished_items
            ),
            baseline=_scored(summary.baseline),
            best=_scored(summary.best),
            usage=Spent.model_validate(summary.usage),
            result=_plain(record.result),
        )


class OptimizationPage(BaseModel):
    """Some optimizations; `next_cursor` is None on the last page."""

    items: list[OptimizationLine]
    next_cursor: str | None = Field(examples=["WyItY3JlYXRlZF9hdCIsMV0", None])


def _line(record: OptimizationRecord, *, trials: int | None = None) -> dict[str, Any]:
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
    }


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


def _scored(found: tuple[Candidate, TrialResult] | None) -> ScoredCandidate | None:
    if found is None:
        return None
    candidate, trial = found
    return ScoredCandidate(
        candidate_id=candidate.id,
        number=candidate.number,
        score=trial.objective_score,
        configuration=candidate.configuration.to_json(),
    )


def _plain(document: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if document is None else dict(document)
