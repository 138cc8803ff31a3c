"""Judging stage of an image run: a verdict on every picture, a neutral one where none is given."""

from __future__ import annotations

import logging
from dataclasses import replace

from burnish.domain import BurnishError, Usage, paid_in
from burnish.domain.images.runs import ImageRun, Rubric, Variant, VariantStatus
from burnish.evaluation.item_runner import describe
from burnish.images.record import ImagePurpose, degraded, spent
from burnish.images.stage_context import StageContext, together

_log = logging.getLogger("burnish.images")
_OPEN = frozenset({VariantStatus.GENERATED, VariantStatus.GENERATION_FAILED})

# Nobody looked at it: in the middle of everything, and sure of nothing.
NEUTRAL = Rubric(
    prompt_adherence=0.5,
    subject_fidelity=0.5,
    composition_quality=0.5,
    style_coherence=0.5,
    technical_artifact_penalty=0.5,
    confidence=0.0,
    failure_tags=("judge_unavailable",),
    rationale="No judge looked at this picture: the numbers are neutral and say nothing of it.",
)


def is_missing(run: ImageRun) -> bool:
    """Whether verdicts are still to be given."""
    return any(one.status in _OPEN for one in run.variants)


async def evaluate(context: StageContext) -> None:
    """Judge each picture against what was asked for; a variant without one is skipped."""
    await together(_judge(context, one) for one in context.run.variants if one.status in _OPEN)


async def _judge(context: StageContext, variant: Variant) -> None:
    if variant.image is None:
        skipped = replace(variant, status=VariantStatus.EVALUATION_SKIPPED)
        await context.record.change_variant(skipped)
        return
    try:
        image = await context.picture(variant.image)
    except BurnishError as error:
        await _skip(context, variant, error)
        return
    request, judge = context.run.request, context.models.judge
    try:
        judgement, took = await context.call(
            lambda: judge.judge(
                image,
                request.judged_by,
                objective=request.objective_preset,
                constraints=request.constraints,
            )
        )
    except BurnishError as error:
        why = f"{error.what}: {error.why}"
        await _neutral(context, variant, why, error.to_json(), paid_in(error))
    except Exception as bug:  # noqa: BLE001 - a judge of somebody else's may raise anything
        _log.exception("judging a variant ended in a bug")
        why = f"the judge {judge.name} failed: {describe(bug)}"
        error_json = {"code": "IMAGE_PIPELINE_FAILED", "message": why, "retryable": False}
        await _neutral(context, variant, why, {**error_json, "fix": "report this bug of the judge"})
    else:
        judged = replace(variant, status=VariantStatus.EVALUATED, judge_latency_ms=took)
        await _record(context, judged, judgement.rubric, judgement.usage)


async def _record(
    context: StageContext, variant: Variant, rubric: Rubric, usage: Usage, reason: str | None = None
) -> None:
    def told(run: ImageRun) -> ImageRun:
        paid = spent(run, ImagePurpose.JUDGE, usage)
        return paid if reason is None else degraded(paid, reason)

    scored = replace(variant, rubric=rubric, composite_score=rubric.composite_score)
    await context.record.change_variant(scored, told)


async def _neutral(
    context: StageContext,
    variant: Variant,
    why: str,
    error: dict[str, object],
    usage: Usage | None = None,
) -> None:
    unjudged = replace(variant, status=VariantStatus.EVALUATED_DEGRADED, error=error)
    reason = f"{variant.variant_id} was not judged: {why}"
    await _record(context, unjudged, NEUTRAL, usage or Usage(), reason)


async def _skip(context: StageContext, variant: Variant, error: BurnishError) -> None:
    skipped = replace(variant, status=VariantStatus.EVALUATION_SKIPPED, error=error.to_json())
    reason = f"{variant.variant_id} was not judged: its picture cannot be read: {error.why}"
    await context.record.change_variant(skipped, lambda run: degraded(run, reason))
