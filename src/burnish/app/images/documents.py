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
    ImageRunStatus.COMPLETED: "Done: ranked, with three suggestions",
    ImageRunStatus.COMPLETED_DEGRADED: "Done, with fallbacks where something failed",
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
    """What happens at the moment, or how it ended."""
    if run.cancel_requested and not run.status.ended:
        return "Stopping, as was asked"
    return _MESSAGES[run.status]


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
    rubric = variant.rubric
    return {
        "variant_id": variant.variant_id,
        "variant_prompt": variant.variant_prompt,
        "mutation_tags": list(variant.mutation_tags),
        "status": variant.status.value,
        "rank": variant.rank,
        "parent_commit_id": variant.parent_commit_id,
        "commit_id": variant.commit_id,
        "image_url": image_url(variant.image),
        "thumbnail_url": thumbnail_url(variant.image),
        "generation_latency_ms": variant.generation_latency_ms,
        "judge_latency_ms": variant.judge_latency_ms,
        "composite_score": variant.composite_score,
        **{name: None if rubric is None else getattr(rubric, name) for name in _FLAT},
        "strength_tags": [] if rubric is None else list(rubric.strength_tags),
        "failure_tags": [] if rubric is None else list(rubric.failure_tags),
        "rubric": rubric_document(rubric),
        "error": variant.error,
    }


def run_document(run: ImageRun) -> dict[str, Any]:
    """A run as it stands, whole."""
    request = run.request
    return {
        "run_id": run.run_id,
        "project_id": request.project_id,
        "base_prompt": request.base_prompt,
        "judge_prompt": request.judge_prompt,
        "objective_preset": request.objective_preset.value,
        "image_model": request.image_model,
        "judge_model": request.judge_model,
        "text_model": request.text_model,
        "n_variants": request.n_variants,
        "quality": request.quality.value,
        "constraints": asdict(request.constraints),
        "parent_commit_id": request.parent_commit_id,
        "anchor_commit_id": run.anchor_commit_id,
        "status": run.status.value,
        "stage": run.stage.value,
        "stage_message": stage_message(run),
        "progress_percent": progress_percent(run),
        "progress": asdict(ImageProgress.of(run)),
        "degraded": run.degraded,
        "degradations": list(run.degradations),
        "error": run.error,
        "variants": [variant_document(one) for one in run.variants],
        "leaderboard": [variant_document(one) for one in run.leaderboard],
        "top_k": list(run.top_k),
        "suggestions": None if run.suggestions is None else asdict(run.suggestions),
        "spending": run.spending.to_json(),
        "cancel_requested": run.cancel_requested,
        "revision": run.revision,
        "created_at": run.created_at,
        "updated_at": run.updated_at,
        "completed_at": run.completed_at,
    }


def commit_document(commit: ImageCommit) -> dict[str, Any]:
    """One commit with its pictures."""
    first = commit.images[0] if commit.images else None
    return {
        "commit_id": commit.commit_id,
        "project_id": commit.project_id,
        "parent_commit_id": commit.parent_commit_id,
        "status": commit.status.value,
        "prompt": commit.prompt,
        "model": commit.model,
        "images": [image_document(one) for one in commit.images],
        "image_url": image_url(first),
        "thumbnail_url": thumbnail_url(first),
        "can_be_parent": commit.can_be_parent,
        "error": commit.error,
        "run_id": commit.run_id,
        "variant_id": commit.variant_id,
        "score": commit.score,
        "created_at": commit.created_at,
    }


def comparison_document(comparison: ImageComparison) -> dict[str, Any]:
    """Two commits side by side."""
    return {
        "comparison_id": comparison.comparison_id,
        "project_id": comparison.project_id,
        "left_commit_id": comparison.left_commit_id,
        "right_commit_id": comparison.right_commit_id,
        "changed_share": comparison.changed_share,
        "mean_difference": comparison.mean_difference,
        "difference_map": image_document(comparison.difference_map),
        "left_rubric": rubric_document(comparison.left_rubric),
        "right_rubric": rubric_document(comparison.right_rubric),
        "judge": comparison.judge,
        "created_at": comparison.created_at,
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
        "comparison_id": one.comparison_id,
        "kept": one.kept,
    }
