"""The second stage: the anchor, and the variants as edits of it."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

from burnish.domain import BurnishError, InvariantError, Usage, UsageError
from burnish.domain.images import (
    CommitStatus,
    ImageCommit,
    ImageFile,
    ImageRun,
    Variant,
    VariantStatus,
)
from burnish.evaluation.item_runner import describe
from burnish.images.purposes import ImagePurpose, degraded, spent
from burnish.images.studio import Studio, commit_id, together

ANCHOR = "anchor"
_log = logging.getLogger("burnish.images")


def is_missing(run: ImageRun) -> bool:
    """Whether pictures are still to be drawn."""
    planned = any(one.status is VariantStatus.PLANNED for one in run.variants)
    return run.anchor_commit_id is None or planned


async def generate(studio: Studio) -> None:
    """Draw what is missing. A variant that fails is recorded and degrades the run; without an
    anchor there is nothing to edit, so its failure is the run's."""
    anchor = await _anchor(studio)
    base = await _base(studio, anchor)
    missing = [one for one in studio.run.variants if one.status is VariantStatus.PLANNED]
    await together(_draw(studio, one, anchor, base) for one in missing)


async def _anchor(studio: Studio) -> ImageCommit:
    run = studio.run
    known = run.anchor_commit_id or run.request.parent_commit_id
    if known is None:
        return await _new_anchor(studio)
    commit = await _parent(studio, known)
    if run.anchor_commit_id is None:
        try:
            await studio.record.change(lambda now: replace(now, anchor_commit_id=known))
        except UsageError as error:
            raise _gone(known, error.why) from error  # In this very moment.
    return commit


async def _parent(studio: Studio, known: str) -> ImageCommit:
    try:
        commit = await studio.repository.commit(known)
    except UsageError as error:
        raise _gone(known, error.why) from error
    if not commit.can_be_parent:
        raise _gone(known, "it has no picture any more")
    return commit


async def _base(studio: Studio, anchor: ImageCommit) -> bytes:
    try:
        return await studio.picture(anchor.images[0])
    except UsageError as error:
        raise _gone(anchor.commit_id, error.why) from error


async def _new_anchor(studio: Studio) -> ImageCommit:
    request, model = studio.run.request, studio.models.image
    drawn, _ = await studio.call(
        lambda: model.generate(request.base_prompt, quality=request.quality)
    )
    try:
        image = await studio.keep(drawn.data)
    except BurnishError:
        await _pay(studio, drawn.usage)
        raise
    commit = ImageCommit(
        commit_id=commit_id(studio.run.run_id, ANCHOR),
        project_id=request.project_id,
        parent_commit_id=None,
        status=CommitStatus.SUCCESS,
        prompt=request.base_prompt,
        model=model.name,
        images=(image,),
        run_id=studio.run.run_id,
    )

    def anchored(run: ImageRun) -> ImageRun:
        paid = spent(run, ImagePurpose.GENERATE, drawn.usage)
        return replace(paid, anchor_commit_id=commit.commit_id)

    await studio.record.change(anchored, commit)
    return commit


async def _draw(studio: Studio, variant: Variant, anchor: ImageCommit, base: bytes) -> None:
    model, quality = studio.models.image, studio.run.request.quality
    begun = replace(
        variant,
        parent_commit_id=anchor.commit_id,
        commit_id=commit_id(studio.run.run_id, variant.variant_id),
    )
    usage = Usage()
    try:
        drawn, took = await studio.call(
            lambda: model.edit(base, variant.variant_prompt, quality=quality)
        )
        usage, begun = drawn.usage, replace(begun, generation_latency_ms=took)
        image = await studio.keep(drawn.data)
    except BurnishError as error:
        if error.code.startswith("STORAGE_"):
            await _pay(studio, usage)
            raise  # Nobody's picture can be stored now.
        await _record_failure(studio, begun, error, usage)
    except Exception as bug:  # noqa: BLE001 - a model of somebody else's may raise anything
        _log.exception("drawing a variant ended in a bug")
        await _record_failure(studio, begun, _unexpected(bug), usage)
    else:
        await _record_picture(studio, begun, image, usage)


async def _pay(studio: Studio, usage: Usage) -> None:
    await studio.record.change(lambda run: spent(run, ImagePurpose.GENERATE, usage))


async def _record_picture(studio: Studio, variant: Variant, image: ImageFile, usage: Usage) -> None:
    await studio.record.change_variant(
        replace(variant, status=VariantStatus.GENERATED, image=image),
        lambda run: spent(run, ImagePurpose.GENERATE, usage),
        _commit(studio, variant, status=CommitStatus.SUCCESS, images=(image,)),
    )


async def _record_failure(
    studio: Studio, variant: Variant, error: BurnishError, usage: Usage
) -> None:
    failed = replace(variant, status=VariantStatus.GENERATION_FAILED, error=error.to_json())
    reason = f"{variant.variant_id} was not drawn: {error.what}: {error.why}"

    def told(run: ImageRun) -> ImageRun:
        return degraded(spent(run, ImagePurpose.GENERATE, usage), reason)

    commit = _commit(
        studio, variant, status=CommitStatus.FAILED, error=f"{error.what}: {error.why}"
    )
    await studio.record.change_variant(failed, told, commit)


def _commit(studio: Studio, variant: Variant, **outcome: Any) -> ImageCommit:
    assert variant.commit_id is not None
    return ImageCommit(
        commit_id=variant.commit_id,
        project_id=studio.run.request.project_id,
        parent_commit_id=variant.parent_commit_id,
        prompt=variant.variant_prompt,
        model=studio.models.image.name,
        run_id=studio.run.run_id,
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
