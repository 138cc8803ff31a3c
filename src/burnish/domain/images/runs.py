"""Image runs: an anchor picture, edits of it, what a judge says of them, and how they rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from burnish.domain.usage import Spending

MIN_PROMPT_LENGTH = 5
VARIANT_COUNTS = (2, 3)
TOP_K = 3
# The name of what a run's variants are edits of, where it is compared with one.
ANCHOR = "anchor"
# A failure tag that contains one of these breaks a hard rule.
HARD_RULES = ("artifact", "watermark", "limb")


class ObjectivePreset(StrEnum):
    """What the pictures are to be good at."""

    ADHERENCE = "adherence"
    AESTHETIC = "aesthetic"
    PRODUCT = "product"


class Quality(StrEnum):
    """How much work a picture is worth."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class ImageRunStatus(StrEnum):
    """Where a run is: its stage while it goes on, then how it ended."""

    QUEUED = "queued"
    PLANNING = "planning"
    GENERATING = "generating"
    EVALUATING = "evaluating"
    REFINING = "refining"
    COMPLETED = "completed"
    COMPLETED_DEGRADED = "completed_degraded"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self in _ENDED


_ENDED = frozenset(
    {
        ImageRunStatus.COMPLETED,
        ImageRunStatus.COMPLETED_DEGRADED,
        ImageRunStatus.FAILED,
        ImageRunStatus.CANCELLED,
    }
)


class VariantStatus(StrEnum):
    """How far one variant came."""

    PLANNED = "planned"
    GENERATED = "generated"
    GENERATION_FAILED = "generation_failed"
    EVALUATED = "evaluated"
    EVALUATED_DEGRADED = "evaluated_degraded"
    EVALUATION_SKIPPED = "evaluation_skipped"

    @property
    def ranked(self) -> bool:
        """Whether it has a score to rank by."""
        return self in {VariantStatus.EVALUATED, VariantStatus.EVALUATED_DEGRADED}


class CommitStatus(StrEnum):
    """Whether a commit has pictures."""

    SUCCESS = "success"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraints:
    """What every picture must show, and what none may."""

    must_include: tuple[str, ...] = ()
    must_avoid: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureWish:
    """What a picture is judged by."""

    prompt: str
    objective_preset: ObjectivePreset
    constraints: Constraints = field(default_factory=Constraints)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """A judge's verdict on one picture; every number is from 0 to 1.

    `not_measured` names the numbers that stand in the middle because the judge could not tell.
    """

    prompt_adherence: float
    subject_fidelity: float
    composition_quality: float
    style_coherence: float
    technical_artifact_penalty: float
    confidence: float
    failure_tags: tuple[str, ...] = ()
    strength_tags: tuple[str, ...] = ()
    rationale: str = ""
    not_measured: tuple[str, ...] = ()

    @property
    def composite_score(self) -> float:
        """The one number that ranks, to 4 decimals."""
        return round(
            0.35 * self.prompt_adherence
            + 0.20 * self.subject_fidelity
            + 0.20 * self.composition_quality
            + 0.15 * self.style_coherence
            - 0.10 * self.technical_artifact_penalty,
            4,
        )

    @property
    def hard_rule_violations(self) -> int:
        """How many failure tags break a hard rule."""
        return sum(any(rule in tag.lower() for rule in HARD_RULES) for tag in self.failure_tags)


@dataclass(frozen=True, slots=True)
class Preference:
    """How a judge sees a picture against another, asked in both orders: 1 better, 0 worse, 0.5 a tie.

    `other` is a variant's id, or the anchor. `value` is None where the judge gave no verdict.
    """

    other: str
    value: float | None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairwise:
    """A variant against the others and, where it is the best, against the anchor.

    `win_rate` is the chance that it beats a variant of average strength, by Bradley and Terry, with
    its 95 % interval; None before all were compared, or where that could not be told.
    """

    preferences: tuple[Preference, ...] = ()
    win_rate: float | None = None
    interval: tuple[float, float] | None = None

    def against(self, other: str) -> Preference | None:
        """What is known against another."""
        return next((one for one in self.preferences if one.other == other), None)

    def plus(self, preference: Preference) -> Pairwise:
        """With one more."""
        return replace(self, preferences=(*self.preferences, preference))


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestions:
    """Three prompts to go on with, from careful to bold."""

    conservative: str
    balanced: str
    aggressive: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFile:
    """A stored picture. `digest` is the SHA-256 of its bytes and names it everywhere."""

    digest: str
    media_type: str
    width: int
    height: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageProject:
    """Where commits belong together. `project_id` is the name people gave it."""

    project_id: str
    created_at: str
    commits: int = 0
    latest_image: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageCommit:
    """One picture, or one failed attempt at one, in a project's history.

    `judged_by` is what its score was given for: scores for different wishes do not compare.
    """

    commit_id: str
    project_id: str
    parent_commit_id: str | None
    status: CommitStatus
    prompt: str
    model: str
    images: tuple[ImageFile, ...] = ()
    error: str | None = None
    run_id: str | None = None
    variant_id: str | None = None
    score: float | None = None
    judged_by: str | None = None
    created_at: str = ""

    @property
    def can_be_parent(self) -> bool:
        """Whether pictures can be made from it."""
        return self.status is CommitStatus.SUCCESS and bool(self.images)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageComparison:
    """Two commits side by side: how far their pixels differ, and what a judge says of each.

    Both are judged by one wish; it is None where an earlier version judged each by its own prompt.
    """

    comparison_id: str
    project_id: str
    left_commit_id: str
    right_commit_id: str
    changed_share: float
    mean_difference: float
    difference_map: ImageFile
    left_rubric: Rubric
    right_rubric: Rubric
    judge: str
    created_at: str = ""
    wish: PictureWish | None = None
    spending: Spending = field(default_factory=Spending)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageRunRequest:
    """What somebody asked for. Models are names; `text_model` None means templates.

    Pictures are judged by `judge_prompt`, and without one by the base prompt: a run that goes on with
    an earlier one's wish in other words is measured by that wish. With `pairwise` the variants are
    compared with each other too, and ranked by that.
    """

    project_id: str
    base_prompt: str
    objective_preset: ObjectivePreset
    image_model: str
    judge_model: str
    text_model: str | None = None
    n_variants: int = 3
    quality: Quality = Quality.MEDIUM
    parent_commit_id: str | None = None
    constraints: Constraints = field(default_factory=Constraints)
    judge_prompt: str | None = None
    pairwise: bool = False

    @property
    def judged_by(self) -> str:
        """What the pictures are to show."""
        return self.judge_prompt or self.base_prompt

    @property
    def wish(self) -> PictureWish:
        """What the pictures are judged by."""
        return PictureWish(
            prompt=self.judged_by,
            objective_preset=self.objective_preset,
            constraints=self.constraints,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One edit of the anchor. `rank` counts from 1; None when it is not ranked.

    `not_drawn` are words of the prompt that its model says it left out.
    """

    variant_id: str
    variant_prompt: str
    mutation_tags: tuple[str, ...] = ()
    status: VariantStatus = VariantStatus.PLANNED
    parent_commit_id: str | None = None
    commit_id: str | None = None
    image: ImageFile | None = None
    generation_latency_ms: float | None = None
    judge_latency_ms: float | None = None
    rubric: Rubric | None = None
    composite_score: float | None = None
    rank: int | None = None
    error: dict[str, Any] | None = None
    not_drawn: tuple[str, ...] = ()
    pairwise: Pairwise | None = None

    @property
    def win_rate(self) -> float | None:
        """Against the other variants; None where they were not compared."""
        return None if self.pairwise is None else self.pairwise.win_rate


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageRun:
    """One run as it stands. `revision` grows with every stored change.

    `stage` is the last stage it was in, also once it ended. `degraded` says that something was
    replaced by a fallback; `degradations` says what, in words. `error` is the one error shape.
    """

    run_id: str
    request: ImageRunRequest
    status: ImageRunStatus = ImageRunStatus.QUEUED
    stage: ImageRunStatus = ImageRunStatus.QUEUED
    anchor_commit_id: str | None = None
    degraded: bool = False
    degradations: tuple[str, ...] = ()
    error: dict[str, Any] | None = None
    variants: tuple[Variant, ...] = ()
    suggestions: Suggestions | None = None
    spending: Spending = field(default_factory=Spending)
    cancel_requested: bool = False
    revision: int = 0
    created_at: str = ""
    updated_at: str = ""
    completed_at: str | None = None

    @property
    def leaderboard(self) -> tuple[Variant, ...]:
        """The ranked variants, the best first."""
        ranked = [variant for variant in self.variants if variant.rank is not None]
        return tuple(sorted(ranked, key=lambda variant: variant.rank or 0))

    @property
    def top_k(self) -> tuple[str, ...]:
        """Ids of the best, at most three."""
        return tuple(variant.variant_id for variant in self.leaderboard[:TOP_K])


def rank(variants: Sequence[Variant]) -> tuple[Variant, ...]:
    """The variants as given, each with its rank: by win rate where they were compared, by score,
    confidence, few artifacts, few broken hard rules; those that are equal in all of it keep their
    order."""
    judged = [variant for variant in variants if variant.status.ranked and variant.rubric]
    places = {one.variant_id: n for n, one in enumerate(sorted(judged, key=_rank_key), start=1)}
    return tuple(_placed(variant, places.get(variant.variant_id)) for variant in variants)


def _rank_key(variant: Variant) -> tuple[float, float, float, float, int]:
    rubric = variant.rubric
    assert rubric is not None
    return (
        -(variant.win_rate or 0.0),
        -(variant.composite_score or 0.0),
        -rubric.confidence,
        rubric.technical_artifact_penalty,
        rubric.hard_rule_violations,
    )


def _placed(variant: Variant, place: int | None) -> Variant:
    return replace(variant, rank=place)
