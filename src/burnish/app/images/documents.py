"""Image runs, commits and comparisons as the documents that the API and `--json` share."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from burnish.domain.images.runs import (
    ImageCommit,
    ImageComparison,
    ImageFile,
    ImageRun,
    ImageRunStatus,
    Rubric,
    Variant,
    VariantStatus,
)
from burnish.images.rounds import ImageOptimizationResult, ImageRound

_MESSAGES = {
    ImageRunStatus.QUEUED: "Waiting for its turn",
    ImageRunStatus.PLANNING: "Planning the variants",
    ImageRunStatus.GENERATING: "Generating the images",
    ImageRunStatus.EVALUATING: "Scoring the images",
    ImageRunStatus.REFINING: "Drafting suggestions",
    ImageRunStatus.COMPLETED: "Ranked, with three suggestions",
    ImageRunStatus.COMPLETED_DEGRADED: "Ranked, with fallbacks where something failed",
    ImageRunStatus.FAILED: "Failed",
    ImageRunStatus.CANCELLED: "Cancelled",
}
_UNMADE = frozenset({VariantStatus.GENERATION_FAILED, VariantStatus.EVALUATION_SKIPPED})


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageProgress:
    """Counters of variants. Those that failed have no picture, and are never scored."""

    total_variants: int
    generated_variants: int
    evaluated_variants: int
    failed_variants: int

    @classmethod
    def of(cls, run: ImageRun) -> ImageProgress:
        """As the run stands."""
        return cls(
            total_variants=run.request.n_variants,
            generated_variants=sum(one.image is not None for one in run.variants),
            evaluated_variants=sum(one.status.ranked for one in run.variants),
            failed_variants=sum(one.status in _UNMADE for one in run.variants),
        )


def progress_percent(run: ImageRun) -> float:
    """From 0 to 100 by its stage. A variant that failed is behind us too, so it counts."""
    if run.status.ended:
        return 100.0
    progress = ImageProgress.of(run)
    total = max(progress.total_variants, 1)
    made = min((progress.generated_variants + progress.failed_variants) / total, 1.0)
    judged = min((progress.evaluated_variants + progress.failed_variants) / total, 1.0)
    shares = {
        ImageRunStatus.QUEUED: 0.0,
        ImageRunStatus.PLANNING: 10.0,
        ImageRunStatus.GENERATING: 15 + made * 35,
        ImageRunStatus.EVALUATING: 50 + judged * 35,
        ImageRunStatus.REFINING: 92.0,
    }
    return round(shares[run.status], 1)


def stage_message(run: ImageRun) -> str:
    """What happens at the moment and how far it is, or how it ended."""
    if run.cancel_requested and not run.status.ended:
        return "Stopping, as was asked"
    progress = ImageProgress.of(run)
    done = {
        ImageRunStatus.GENERATING: progress.generated_variants,
        ImageRunStatus.EVALUATING: progress.evaluated_variants,
    }
    count = f": {done[run.status]} of {progress.total_variants}" if run.status in done else ""
    failed = progress.failed_variants if not run.status.ended else 0
    return f"{_MESSAGES[run.status]}{count}{f', {failed} failed' if failed else ''}"


_FLAT = (
    "prompt_adherence",
    "subject_fidelity",
    "composition_quality",
    "style_coherence",
    "technical_artifact_penalty",
    "confidence",
    "rationale",
)


def image_url(image: ImageFile | None) -> str | None:
    """Where the API serves a picture."""
    return None if image is None else f"/images/{image.digest}"


def thumbnail_url(image: ImageFile | None) -> str | None:
    """Where the API serves a small one of it."""
    return None if image is None else f"/images/{image.digest}/thumbnail"


def rubric_document(rubric: Rubric | None) -> dict[str, Any] | None:
    """All numbers with the score that they come to; None when nobody judged."""
    if rubric is None:
        return None
    return {**asdict(rubric), "composite_score": rubric.composite_score}


def image_document(image: ImageFile) -> dict[str, Any]:
    """A stored picture and where to get it."""
    return {**asdict(image), "url": image_url(image), "thumbnail_url": thumbnail_url(image)}


def variant_document(variant: Variant) -> dict[str, Any]:
    """One variant; the numbers of its rubric stand both flat and together."""
    rubric, image = variant.rubric, variant.image
    told = {
        **asdict(variant),
        "mutation_tags": list(variant.mutation_tags),
        "image_url": image_url(image),
        "thumbnail_url": thumbnail_url(image),
        **{name: None if rubric is None else getattr(rubric, name) for name in _FLAT},
        "strength_tags": [] if rubric is None else list(rubric.strength_tags),
        "failure_tags": [] if rubric is None else list(rubric.failure_tags),
        "rubric": rubric_document(rubric),
    }
    del told["image"]
    return told


def run_document(run: ImageRun) -> dict[str, Any]:
    """A run as it stands, whole."""
    told = {
        **asdict(run.request),
        **asdict(run),
        # The last stage of all is how it ended.
        "stage": run.status if run.status.ended else run.stage,
        "last_stage": run.stage,
        "stage_message": stage_message(run),
        "progress_percent": progress_percent(run),
        "progress": asdict(ImageProgress.of(run)),
        "degradations": list(run.degradations),
        "variants": [variant_document(one) for one in run.variants],
        "leaderboard": [variant_document(one) for one in run.leaderboard],
        "top_k": list(run.top_k),
        "spending": run.spending.to_json(),
    }
    del told["request"]
    return told


def commit_document(commit: ImageCommit) -> dict[str, Any]:
    """One commit with its pictures."""
    first = commit.images[0] if commit.images else None
    return {
        **asdict(commit),
        "images": [image_document(one) for one in commit.images],
        "image_url": image_url(first),
        "thumbnail_url": thumbnail_url(first),
        "can_be_parent": commit.can_be_parent,
    }


def comparison_document(comparison: ImageComparison) -> dict[str, Any]:
    """Two commits side by side."""
    return {
        **asdict(comparison),
        "difference_map": image_document(comparison.difference_map),
        "left_rubric": rubric_document(comparison.left_rubric),
        "right_rubric": rubric_document(comparison.right_rubric),
        "spending": comparison.spending.to_json(),
    }


def optimization_document(result: ImageOptimizationResult) -> dict[str, Any]:
    """Rounds, each with what it gained, and the best picture of all."""
    return {
        "optimization_id": result.optimization_id,
        "ended": result.ended.value,
        "why": result.why,
        "improved": result.improved,
        "best": {
            "commit_id": result.best_commit_id,
            "prompt": result.best_prompt,
            "composite_score": result.best_score,
        },
        "rounds": [_round_document(one) for one in result.rounds],
        "images": result.images,
        "spending": result.spending.to_json(),
    }


def _round_document(one: ImageRound) -> dict[str, Any]:
    return {
        "number": one.number,
        "run_id": one.run.run_id,
        "base_prompt": one.run.request.base_prompt,
        "status": one.run.status.value,
        "winner": None if one.winner is None else variant_document(one.winner),
        "parent_score": one.parent_score,
        "margin": one.margin,
        "over_parent": one.over_parent,
        "comparison_id": one.comparison_id,
        "kept": one.kept,
    }
