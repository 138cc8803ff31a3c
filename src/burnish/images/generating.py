"""Generating stage of an image run: the anchor, then each variant as an edit of it."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import replace
from typing import Any

from burnish.domain import (
    BurnishError,
    InvariantError,
    UnavailableError,
    Usage,
    UsageError,
    paid_in,
)
from burnish.domain.images.runs import (
    ANCHOR,
    CommitStatus,
    ImageCommit,
    ImageFile,
    ImageRun,
    Variant,
    VariantStatus,
)
from burnish.evaluation.item_runner import describe
from burnish.images.constraint_text import with_constraints
from burnish.images.record import ImagePurpose, degraded, spent
from burnish.images.stage_context import StageContext, commit_id, together

_log = logging.getLogger("burnish.images")


def is_missing(run: ImageRun) -> bool:
    """Whether pictures are still to be drawn."""
    planned = any(one.status is VariantStatus.PLANNED for one in run.variants)
    return run.anchor_commit_id is None or planned


async def generate(context: StageContext) -> None:
    """Draw what is missing. A variant that fails is recorded and degrades the run; without an
    anchor there is nothing to edit, so its failure is the run's."""
    anchor = await _anchor(context)
    base = await _base(context, anchor)
    missing = [one for one in context.run.variants if one.status is VariantStatus.PLANNED]
    await together(_draw(context, one, anchor, base) for one in missing)


def require_picture(run: ImageRun) -> None:
    """Raise the commonest error of the variants when none of them has a picture."""
    if any(one.image is not None for one in run.variants):
        return
    told = [one.error for one in run.variants if one.error is not None]
    errors = [tuple(str(one.get(name, "")) for name in ("message", "fix", "code")) for one in told]
    (message, fix, code), times = Counter(errors).most_common(1)[0]
    kind = UnavailableError if any(one.get("retryable") for one in told) else UsageError
    raise kind(
        what="no variant could be drawn",
        why=f"{message} ({times} of {len(run.variants)})",
        fix=fix or "run it again",
        code=code,
    )


async def _anchor(context: StageContext) -> ImageCommit:
    run = context.run
    known = run.anchor_commit_id or run.request.parent_commit_id
    if known is None:
        return await _new_anchor(context)
    commit = await _parent(context, known)
    if run.anchor_commit_id is None:
        try:
            await context.record.change(lambda now: replace(now, anchor_commit_id=known))
        except UsageError as error:
            raise _gone(known, error.why) from error  # In this very moment.
    return commit


async def _parent(context: StageContext, known: str) -> ImageCommit:
    try:
        commit = await context.repository.commit(known)
    except UsageError as error:
        raise _gone(known, error.why) from error
    if not commit.can_be_parent:
        raise _gone(known, "it has no picture any more")
    return commit


async def _base(context: StageContext, anchor: ImageCommit) -> bytes:
    try:
        return await context.picture(anchor.images[0])
    except UsageError as error:
        raise _gone(anchor.commit_id, error.why) from error


async def _new_anchor(context: StageContext) -> ImageCommit:
    request, model = context.run.request, context.models.image
    prompt, usage = with_constraints(request.base_prompt, request.constraints), Usage()
    try:
        drawn, _ = await context.call(lambda: model.generate(prompt, quality=request.quality))
        usage = drawn.usage
        image = await context.keep(drawn.data)
    except BurnishError as error:
        await _pay(context, usage + paid_in(error))
        raise
    commit = ImageCommit(
        commit_id=commit_id(context.run.run_id, ANCHOR),
        project_id=request.project_id,
        parent_commit_id=None,
        status=CommitStatus.SUCCESS,
        prompt=prompt,
        model=model.name,
        images=(image,),
        run_id=context.run.run_id,
    )

    def anchored(run: ImageRun) -> ImageRun:
        paid = spent(run, ImagePurpose.GENERATE, drawn.usage)
        return replace(paid, anchor_commit_id=commit.commit_id)

    await context.record.change(anchored, commit)
    return commit


async def _draw(context: StageContext, variant: Variant, anchor: ImageCommit, base: bytes) -> None:
    model, quality = context.models.image, context.run.request.quality
    begun = replace(
        variant,
        parent_commit_id=anchor.commit_id,
        commit_id=commit_id(context.run.run_id, variant.variant_id),
    )
    usage = Usage()
    try:
        drawn, took = await context.call(
            lambda: model.edit(base, variant.variant_prompt, quality=quality)
        )
        usage = drawn.usage
        begun = replace(begun, generation_latency_ms=took, not_drawn=drawn.not_drawn)
        image = await context.keep(drawn.data)
    except BurnishError as error:
        if error.code.startswith("STORAGE_"):
            await _pay(context, usage)
            raise  # Nobody's picture can be stored now.
        await _record_failure(context, begun, error, usage + paid_in(error))
    except Exception as bug:  # noqa: BLE001 - a model of somebody else's may raise anything
        _log.exception("drawing a variant ended in a bug")
        await _record_failure(context, begun, _unexpected(bug), usage)
    else:
        await _record_picture(context, begun, image, usage)


async def _pay(context: StageContext, usage: Usage) -> None:
    if usage.calls:
        await context.record.change(lambda run: spent(run, ImagePurpose.GENERATE, usage))


async def _record_picture(
    context: StageContext, variant: Variant, image: ImageFile, usage: Usage
) -> None:
    await context.record.change_variant(
        replace(variant, status=VariantStatus.GENERATED, image=image),
        lambda run: spent(run, ImagePurpose.GENERATE, usage),
        _commit(context, variant, status=CommitStatus.SUCCESS, images=(image,)),
    )


async def _record_failure(
    context: StageContext, variant: Variant, error: BurnishError, usage: Usage
) -> None:
    failed = replace(variant, status=VariantStatus.GENERATION_FAILED, error=error.to_json())
    reason = f"{variant.variant_id} was not drawn: {error.what}: {error.why}"

    def told(run: ImageRun) -> ImageRun:
        return degraded(spent(run, ImagePurpose.GENERATE, usage), reason)

    commit = _commit(
        context, variant, status=CommitStatus.FAILED, error=f"{error.what}: {error.why}"
    )
    await context.record.change_variant(failed, told, commit)


def _commit(context: StageContext, variant: Variant, **outcome: Any) -> ImageCommit:
    assert variant.commit_id is not None
    return ImageCommit(
        commit_id=variant.commit_id,
        project_id=context.run.request.project_id,
        parent_commit_id=variant.parent_commit_id,
        prompt=variant.variant_prompt,
        model=context.models.image.name,
        run_id=context.run.run_id,
        variant_id=variant.variant_id,
        **outcome,
    )


def _unexpected(bug: Exception) -> InvariantError:
    return InvariantError(
        what="the image model failed",
        why=describe(bug),
        fix="this is a bug in the model: report it",
        code="IMAGE_PIPELINE_FAILED",
    )


def _gone(commit: str, why: str) -> UsageError:
    return UsageError(
        what=f"the parent commit {commit} cannot be edited any more",
        why=why,
        fix="run it again with another parent, or with none",
        code="PARENT_GONE",
    )
