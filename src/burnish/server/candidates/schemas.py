"""Candidates as responses: one by itself, two item by item, and what a promotion would change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, Field

from burnish.app.agents.promotion import PromotionReview
from burnish.app.report.candidate_pages import CandidatePage, CandidateRun
from burnish.app.report.comparisons import Change, ComparedItem, Comparison, On, Side
from burnish.app.report.html.markup import as_text
from burnish.app.report.runs.points import shortened
from burnish.domain import Candidate, ExperimentStatus, ItemResult, Json
from burnish.domain.optimizations.pages import ItemLine, LineageNode
from burnish.server.agents.schemas import DifferenceView, VersionLine
from burnish.server.http.responses import Page, View
from burnish.server.optimizations.schemas import Evidence
from burnish.server.optimizations.trial_schemas import ItemView

_PREVIEW = 200
_MOST_FIELDS = 8


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
        return cls.read(run, ci_low=low, ci_high=high)


class RunCandidate(View):
    """A candidate with all that is known of it, also when it only ran on mini-batches."""

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
        return cls.read(
            candidate,
            page,
            candidate_id=candidate.id,
            baseline=candidate.number == 0,
            best=candidate.id == page.record.best_candidate_id,
            parents=[CandidateRef.of(one) for one in page.parents],
            children=[CandidateRef.of(one) for one in page.children],
            configuration=candidate.configuration.to_json(),
            configuration_hash=candidate.configuration.hash,
            prompt_tokens=sum(page.section_tokens.values()),
            experiments=[CandidateExperiment.of(one) for one in page.runs],
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
            evidence=None if review.evidence is None else Evidence(**review.evidence),
            doubts=list(promotion.doubts),
        )


class ComparedCandidate(BaseModel):
    """A side of a comparison; its score is over the items that both ran."""

    candidate_id: str
    number: int
    score: float | None


class ComparisonView(BaseModel):
    """Two candidates on the items that both ran. Without any, there are no numbers."""

    before: ComparedCandidate
    after: ComparedCandidate
    on: On
    items: int
    before_score: float | None
    after_score: float | None
    delta: float | None
    ci_low: float | None = Field(description="Bounds of the difference's 95 % interval.")
    ci_high: float | None
    p_value: float | None
    improved: int
    regressed: int
    unchanged: int
    held_out_available: bool = Field(description="Whether both ran on held-out items.")
    difference: DifferenceView

    @classmethod
    def of(cls, comparison: Comparison) -> ComparisonView:
        """From what was compared."""
        counts = comparison.counts
        bounds = ("delta", "ci_low", "ci_high", "p_value")
        return cls(
            before=_candidate(comparison, comparison.before),
            after=_candidate(comparison, comparison.after),
            on=comparison.on,
            items=len(comparison.changes),
            before_score=comparison.mean(comparison.before),
            after_score=comparison.mean(comparison.after),
            **{name: getattr(comparison.tested, name, None) for name in bounds},
            improved=counts[Change.IMPROVED],
            regressed=counts[Change.REGRESSED],
            unchanged=counts[Change.UNCHANGED],
            held_out_available=comparison.held_out_available,
            difference=DifferenceView.of(comparison.difference),
        )


class ComparedSide(View):
    """What a candidate made of an item: the beginning of its first answer, and the mean score."""

    score: float
    passed: bool = Field(description="In all runs.")
    runs: int
    output: str
    error: str | None

    @classmethod
    def of(cls, score: float, results: Sequence[ItemResult]) -> ComparedSide:
        """From all runs of an item."""
        answered = next((one.output for one in results if one.output is not None), None)
        failed = next((one.error for one in results if one.error is not None), None)
        return cls(
            score=score,
            passed=bool(results) and all(one.passed for one in results),
            runs=len(results),
            output="" if answered is None else shortened(answered.text, _PREVIEW) or "",
            error=None if failed is None else shortened(failed.message, _PREVIEW),
        )


class ComparedItemView(View):
    """An item and what became of it."""

    item_id: str
    split: str | None
    preview: str = Field(description="The beginning of the row, on one line.")
    change: Literal["improved", "regressed", "unchanged"]
    delta: float
    before: ComparedSide
    after: ComparedSide

    @classmethod
    def of(cls, one: ComparedItem) -> ComparedItemView:
        """From what was compared."""
        return cls(
            item_id=one.item_id,
            split=None if one.row is None else one.row.item.split,
            preview="" if one.row is None else preview_of(one.row.item.data),
            change=one.change.value,
            delta=one.after_score - one.before_score,
            before=ComparedSide.of(one.before_score, one.before),
            after=ComparedSide.of(one.after_score, one.after),
        )


class ComparedItemPage(Page[ComparedItemView]):
    """Some items: those that got worse first, then better ones; `total` is of all that fit."""

    total: int


class ItemSide(BaseModel):
    """What one candidate made of an item, run by run."""

    candidate_id: str
    number: int
    score: float | None
    runs: list[ItemView]


class ItemDetail(View):
    """One item in full, with what each candidate answered and how that was judged."""

    item_id: str
    split: str | None
    input: dict[str, Any] | None = Field(description="The row of the dataset; None if not stored.")
    expected: dict[str, Any] = Field(description="The fields of it that scorers compare with.")
    sides: list[ItemSide]


def item_side(side: Side, lines: Sequence[ItemLine]) -> ItemSide:
    """A side of an item from its runs."""
    scores = [one.result.score for one in lines]
    return ItemSide(
        candidate_id=side.candidate.id,
        number=side.candidate.number,
        score=sum(scores) / len(scores) if scores else None,
        runs=[ItemView.of(one) for one in lines],
    )


def preview_of(data: Mapping[str, Json]) -> str:
    """A row on one line."""
    if len(data) == 1:
        return shortened(as_text(next(iter(data.values()))), _PREVIEW) or ""
    parts = (f"{name}: {as_text(value)[:_PREVIEW]}" for name, value in data.items())
    shown = [part for part, _ in zip(parts, range(_MOST_FIELDS), strict=False)]
    return shortened(" · ".join(shown), _PREVIEW) or ""


def _candidate(comparison: Comparison, side: Side) -> ComparedCandidate:
    return ComparedCandidate(
        candidate_id=side.candidate.id,
        number=side.candidate.number,
        score=comparison.mean(side),
    )


def _ref(candidate: Candidate, score: float | None) -> CandidateRef:
    return CandidateRef(
        candidate_id=candidate.id,
        number=candidate.number,
        score=score,
        status=None if score is None else ExperimentStatus.COMPLETED,
    )
