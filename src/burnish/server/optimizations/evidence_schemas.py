"""How a run stands: its budget, its two candidates that matter, and what speaks for the winner."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from burnish.app.report.run_budget import BudgetUse
from burnish.domain import Candidate, ExperimentStatus, TrialResult
from burnish.server.http import examples
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
    configuration: dict[str, Any] = Field(examples=[examples.CONFIGURATION])
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
