"""How far an image run has come: counters, a percentage and a line of words."""

from __future__ import annotations

from dataclasses import dataclass

from burnish.domain.images import ImageRun, ImageRunStatus, VariantStatus

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
