"""Candidates of a run: one by itself, two side by side, and what a promotion would change."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from burnish.app.agents.promotion_review import PromotionReview
from burnish.app.report.candidate_pages import CandidatePage, CandidateRun
from burnish.domain import Candidate, ExperimentStatus
from burnish.domain.read_models import LineageNode
from burnish.server.agents.schemas import DifferenceView, VersionLine
from burnish.server.http import examples
from burnish.server.http.responses import View
from burnish.server.optimizations.evidence_schemas import Evidence

_RUN: dict[str, Any] = {
    "experiment_id": examples.EXPERIMENT_ID,
    "role": "trial",
    "status": "completed",
    "score": 0.88,
    "ci_low": 0.76,
    "ci_high": 0.94,
    "items": 50,
    "passed": 44,
    "failed": 6,
    "cost_usd": 0.0,
    "avg_tokens": 92.0,
    "avg_latency_ms": 91.5,
    "avg_cost_usd": 0.0,
    "error": None,
    "created_at": examples.MOMENT,
    "finished_at": examples.MOMENT,
}
_REF: dict[str, Any] = {
    "candidate_id": "3c9e8a10-1",
    "number": 1,
    "score": 0.8,
    "status": "completed",
}


class CandidateRef(BaseModel):
    """Enough of a candidate to name and link it; without a trial it has neither score nor status."""

    candidate_id: str
    number: int
    score: float | None
    status: ExperimentStatus | None

    @classmethod
    def of(cls, node: LineageNode) -> CandidateRef:
        """From the lineage."""
        return cls(candidate_id=node.id, number=node.number, score=node.score, status=node.status)


class CandidateExperiment(View):
    """One experiment of a candidate, with what it came to."""

    model_config = ConfigDict(json_schema_extra={"examples": [_RUN]})

    experiment_id: str
    role: Literal["trial", "mini-batch", "held_out"]
    status: ExperimentStatus
    score: float | None
    ci_low: float | None
    ci_high: float | None
    items: int
    passed: int
    failed: int
    cost_usd: float | None
    avg_tokens: float | None
    avg_latency_ms: float | None
    avg_cost_usd: float | None
    error: str | None
    created_at: str | None
    finished_at: str | None

    @classmethod
    def of(cls, run: CandidateRun) -> CandidateExperiment:
        """From what was read."""
        low, high = run.interval or (None, None)
        own = {name: getattr(run, name) for name in cls.model_fields if hasattr(run, name)}
        return cls(**own, ci_low=low, ci_high=high)


class RunCandidate(View):
    """A candidate with all that is known of it, also when it only ran on mini-batches."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "optimization_id": examples.OPTIMIZATION_ID,
                    "candidate_id": examples.CANDIDATE_ID,
                    "number": 4,
                    "step_index": 2,
                    "baseline": False,
                    "best": True,
                    "origin": "edit",
                    "parents": [_REF],
                    "children": [],
                    "rationale": "name the labels in the first line",
                    "configuration": examples.CONFIGURATION,
                    "configuration_hash": "5f2c…",
                    "prompt_tokens": 31,
                    "section_tokens": {"system": 27, "user": 4},
                    "experiments": [_RUN],
                    "cost_usd": 0.0,
                    "promoted_versions": [],
                }
            ]
        }
    )

    optimization_id: str
    candidate_id: str
    number: int
    step_index: int
    baseline: bool
    best: bool
    origin: Literal["baseline", "edit", "merge", "fresh"] = Field(
        description="An edit has one parent, a merge several, and what is fresh none."
    )
    parents: list[CandidateRef]
    children: list[CandidateRef] = Field(description="The first hundred.")
    rationale: str | None = Field(description="What edit or reflection made it, in its words.")
    configuration: dict[str, Any]
    configuration_hash: str
    prompt_tokens: int
    section_tokens: dict[str, int] = Field(description="The examples together are `@examples`.")
    experiments: list[CandidateExperiment]
    cost_usd: float | None
    promoted_versions: list[int] = Field(description="Versions of the agent that are this one.")

    @classmethod
    def of(cls, page: CandidatePage) -> RunCandidate:
        """From what was read."""
        candidate = page.candidate
        return cls(
            optimization_id=candidate.optimization_id,
            candidate_id=candidate.id,
            number=candidate.number,
            step_index=candidate.step_index,
            baseline=candidate.number == 0,
            best=candidate.id == page.record.best_candidate_id,
            origin=page.origin,
            parents=[CandidateRef.of(one) for one in page.parents],
            children=[CandidateRef.of(one) for one in page.children],
            rationale=candidate.rationale,
            configuration=candidate.configuration.to_json(),
            configuration_hash=candidate.configuration.hash,
            prompt_tokens=sum(page.section_tokens.values()),
            section_tokens=dict(page.section_tokens),
            experiments=[CandidateExperiment.of(one) for one in page.runs],
            cost_usd=page.cost_usd,
            promoted_versions=list(page.versions),
        )


class PromotionReviewView(BaseModel):
    """What a promotion would change and what speaks for and against it. Nothing is done."""

    candidate: CandidateRef
    baseline: CandidateRef
    agent: str
    active_version: int | None
    active: VersionLine | None
    already_active: bool
    begins_from_active: bool = Field(
        description="Whether the run began with what is in use, so that the two were compared."
    )
    expected_version: int = Field(description="Send it with the promotion: 409 if it moved.")
    difference: DifferenceView = Field(
        description="From what is in use to the candidate; without a version, from the baseline."
    )
    evidence: Evidence | None = Field(description="Only the best candidate has any.")
    doubts: list[str]

    @classmethod
    def of(cls, review: PromotionReview) -> PromotionReviewView:
        """From what was read."""
        promotion = review.promotion
        active = promotion.active
        number = None if active is None else active.version
        evidence = review.evidence
        return cls(
            candidate=_ref(promotion.candidate, promotion.score),
            baseline=_ref(promotion.baseline, promotion.baseline_score),
            agent=promotion.record.agent_name,
            active_version=number,
            active=None if active is None else VersionLine.of(active),
            already_active=promotion.already_active,
            begins_from_active=review.begins_from_active,
            expected_version=number or 0,
            difference=DifferenceView.of(review.difference),
            evidence=None if evidence is None else Evidence.model_validate(dict(evidence)),
            doubts=list(promotion.doubts),
        )


def _ref(candidate: Candidate, score: float | None) -> CandidateRef:
    return CandidateRef(
        candidate_id=candidate.id,
        number=candidate.number,
        score=score,
        status=None if score is None else ExperimentStatus.COMPLETED,
    )
