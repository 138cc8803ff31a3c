"""Runs of configured optimizers and their candidates."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from burnish.app.agents.optimizer_runs import RUN_STATES, RunState
from burnish.domain import ExperimentStatus, OptimizationStatus
from burnish.domain.optimizer_runs import CandidateLine, RunLine
from burnish.optimization.plan import candidate_id
from burnish.server.http import examples
from burnish.server.http.responses import View

CandidateState = Literal["pending", "evaluating", "evaluated", "rejected", "accepted"]


class RunView(View):
    """A run. Its id is that of its optimization, where events, trials and the report are."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": examples.OPTIMIZATION_ID,
                    "agent_name": "reviews",
                    "suite_name": "reviews",
                    "optimizer_name": "nightly",
                    "status": "succeeded",
                    "base_config_version": 2,
                    "scores": {"exact_match": 0.88},
                    "iterations": 8,
                    "winning_candidate_id": examples.CANDIDATE_ID,
                    "started_at": examples.MOMENT,
                    "completed_at": examples.MOMENT,
                    "optimizer_version": 3,
                    "suite_id": "0199d1c8-70aa-7b1e-9d0f-5b3a1c2d4e5f",
                    "suite_version": 1,
                    "baseline_score": 0.72,
                    "best_score": 0.88,
                    "stop_reason": "budget",
                    "error": None,
                    "due_at": None,
                    "promotion": None,
                }
            ]
        }
    )

    id: str
    agent_name: str
    suite_name: str
    optimizer_name: str
    status: RunState
    base_config_version: int
    scores: dict[str, float] | None = Field(
        description="The mean of each scorer for the best candidate so far."
    )
    iterations: int = Field(description="Trials so far, without the baseline.")
    winning_candidate_id: str | None = Field(
        description="None until the run has ended, and when nothing beat the baseline."
    )
    started_at: str
    completed_at: str | None
    optimizer_version: int
    suite_id: str
    suite_version: int
    baseline_score: float | None
    best_score: float | None
    stop_reason: str | None
    error: dict[str, Any] | None
    due_at: str | None = Field(description="The time of the schedule that started it.")
    promotion: dict[str, Any] | None = Field(
        description="What was done without a person after its end, and why."
    )

    @classmethod
    def of(cls, line: RunLine) -> RunView:
        """From a line of a page."""
        run, record = line.run, line.record
        ended = record.status.final
        best = record.best_candidate_id
        won = ended and best != candidate_id(record.id, 0)
        return cls(
            id=run.id,
            agent_name=run.agent_name,
            suite_name=record.suite_name,
            optimizer_name=run.optimizer_name,
            status=RUN_STATES[record.status],
            base_config_version=run.base_config_version,
            scores=dict(line.scores) or None,
            iterations=record.trials,
            winning_candidate_id=best if won else None,
            started_at=run.started_at,
            completed_at=record.updated_at if ended else None,
            optimizer_version=run.optimizer_version,
            suite_id=run.suite_id,
            suite_version=run.suite_version,
            baseline_score=record.baseline_score,
            best_score=record.best_score,
            stop_reason=record.stop_reason,
            error=None if record.framework_error is None else dict(record.framework_error),
            due_at=run.due_at,
            promotion=None if run.promotion is None else dict(run.promotion),
        )


class RunPage(BaseModel):
    """Some runs, the newest first; `next_cursor` is None on the last page."""

    items: list[RunView]
    next_cursor: str | None


class CandidateView(View):
    """A candidate of a run. `eval_run_id` is the evaluation that its scores come from."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": examples.CANDIDATE_ID,
                    "run_id": examples.OPTIMIZATION_ID,
                    "number": 4,
                    "candidate_hash": "5f2c…",
                    "system_prompt": "Is the review positive or negative?",
                    "user_prompt": "{{review}}",
                    "extra_sections": {},
                    "eval_run_id": examples.EXPERIMENT_ID,
                    "scores": {"exact_match": 0.88},
                    "status": "accepted",
                    "rationale": "name the labels in the first line",
                }
            ]
        }
    )

    id: str
    run_id: str
    number: int = Field(description="The baseline is 0.")
    candidate_hash: str
    system_prompt: str
    user_prompt: str
    extra_sections: dict[str, str]
    eval_run_id: str | None
    scores: dict[str, float] | None
    status: CandidateState
    rationale: str | None

    @classmethod
    def of(cls, line: CandidateLine, run: RunLine) -> CandidateView:
        """From a line of a page; the winner of a run that has ended is accepted."""
        candidate, sections = line.candidate, dict(line.candidate.configuration.sections)
        return cls(
            id=candidate.id,
            run_id=run.run.id,
            number=candidate.number,
            candidate_hash=candidate.configuration.hash,
            system_prompt=sections.pop("system", ""),
            user_prompt=sections.pop("user", ""),
            extra_sections=sections,
            eval_run_id=None if line.trial is None else line.trial.experiment_id,
            scores=dict(line.scores) or None,
            status=_state(line, run),
            rationale=candidate.rationale,
        )


class CandidatePage(BaseModel):
    """Some candidates by number; `next_cursor` is None on the last page."""

    items: list[CandidateView]
    next_cursor: str | None


def _state(line: CandidateLine, run: RunLine) -> CandidateState:
    if line.trial is None:
        return "pending"
    if not line.trial.status.final:
        return "evaluating"
    if line.trial.status is not ExperimentStatus.COMPLETED:
        return "rejected"
    record = run.record
    won = record.best_candidate_id == line.candidate.id and line.candidate.number > 0
    return "accepted" if won and record.status is OptimizationStatus.COMPLETED else "evaluated"
