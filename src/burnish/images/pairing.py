"""Pairwise stage of an image run: variants compared with each other, and the best with the anchor.

Each pair is asked for in both orders, and stored once it is known.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from burnish.domain import BurnishError, Usage, UsageError, paid_in
from burnish.domain.images.protocols import PictureChoice
from burnish.domain.images.runs import (
    ANCHOR,
    ImageFile,
    ImageRun,
    Pairwise,
    Preference,
    Variant,
    rank,
)
from burnish.evaluation.item_runner import describe
from burnish.evaluation.pairwise import bradley_terry
from burnish.evaluation.scorers.pairwise import TIE, Choice, settled
from burnish.images.record import ImagePurpose, degraded, spent
from burnish.images.stage_context import StageContext, together

_log = logging.getLogger("burnish.images")
_EQUAL = "both pictures are the same"


async def compare(context: StageContext) -> None:
    """Compare what was not compared yet, say how strong each variant is, and try the best."""
    shown = [one for one in context.run.variants if one.status.ranked]
    missing = [(a, b) for a, b in combinations(shown, 2) if _known(a, b.variant_id) is None]
    await together(_compare(context, a, b.variant_id, b.image) for a, b in missing)
    await context.record.change(_with_strengths)
    best = next((one for one in rank(context.run.variants) if one.rank == 1), None)
    if best is None or _known(best, ANCHOR) is not None or context.run.anchor_commit_id is None:
        return
    try:
        anchor = (await context.repository.commit(context.run.anchor_commit_id)).images[0]
    except UsageError:
        return  # A history may lose commits.
    await _compare(context, best, ANCHOR, anchor)


def _known(variant: Variant, other: str) -> Preference | None:
    return None if variant.pairwise is None else variant.pairwise.against(other)


async def _compare(
    context: StageContext, variant: Variant, other: str, image: ImageFile | None
) -> None:
    assert variant.image is not None and image is not None
    if variant.image.digest == image.digest:
        await _record(context, variant, other, ((TIE, _EQUAL), (TIE, _EQUAL)))
        return
    usage, why = Usage(), ""
    told: Sequence[PictureChoice | BaseException] = ()
    try:
        pictures = [await context.files.get(one.digest) for one in (variant.image, image)]
        told = await asyncio.gather(
            _choose(context, pictures), _choose(context, pictures[::-1]), return_exceptions=True
        )
    except BurnishError as error:
        why = f"a picture cannot be read: {error.why}"
    for one in told:
        if isinstance(one, BaseException):
            usage += paid_in(one)
            why = why or _why(context, one)
        else:
            usage += one.usage
    if why:
        await _record_failure(context, variant, other, why, usage)
        return
    first, second = (Choice(one.winner, one.reason) for one in told)  # type: ignore[union-attr]
    await _record(context, variant, other, (settled(first, second), settled(second, first)), usage)


async def _choose(context: StageContext, pictures: Sequence[bytes]) -> PictureChoice:
    request, judge = context.run.request, context.models.judge
    choice, _ = await context.call(
        lambda: judge.choose(
            pictures[0],
            pictures[1],
            request.judged_by,
            objective=request.objective_preset,
            constraints=request.constraints,
        )
    )
    return choice


def _why(context: StageContext, error: BaseException) -> str:
    if isinstance(error, BurnishError):
        return f"{error.what}: {error.why}"
    if not isinstance(error, Exception):
        raise error
    _log.error("comparing two pictures ended in a bug", exc_info=error)
    return f"the judge {context.models.judge.name} failed: {describe(error)}"


async def _record(
    context: StageContext,
    variant: Variant,
    other: str,
    views: tuple[tuple[float, str], tuple[float, str]],
    usage: Usage | None = None,
) -> None:
    def edit(run: ImageRun) -> ImageRun:
        paid = spent(run, ImagePurpose.JUDGE, usage or Usage())
        mine = _with(paid, variant.variant_id, Preference(other, *views[0]))
        return _with(mine, other, Preference(variant.variant_id, *views[1]))

    await context.record.change(edit)


async def _record_failure(
    context: StageContext, variant: Variant, other: str, why: str, usage: Usage
) -> None:
    def edit(run: ImageRun) -> ImageRun:
        paid = spent(run, ImagePurpose.JUDGE, usage)
        both = _with(paid, variant.variant_id, Preference(other, None, why))
        both = _with(both, other, Preference(variant.variant_id, None, why))
        return degraded(both, f"{variant.variant_id} and {other} were not compared: {why}")

    await context.record.change(edit)


def _with(run: ImageRun, variant_id: str, preference: Preference) -> ImageRun:
    """The run with what is known of a variant now; the anchor is none."""
    return replace(
        run,
        variants=tuple(
            replace(one, pairwise=(one.pairwise or Pairwise()).plus(preference))
            if one.variant_id == variant_id
            else one
            for one in run.variants
        ),
    )


def _with_strengths(run: ImageRun) -> ImageRun:
    """Of all that are ranked or of none: where pairs lack, some could not be compared with others."""
    shown = [one for one in run.variants if one.status.ranked]
    results = {
        (a.variant_id, b.variant_id): [known.value]
        for a, b in combinations(shown, 2)
        if (known := _known(a, b.variant_id)) is not None and known.value is not None
    }
    met = {name for pair in results for name in pair}
    if len(met) < len(shown) or not met:
        return run
    found = {one.name: one for one in bradley_terry(results)}

    def strong(one: Variant) -> Variant:
        strength = found.get(one.variant_id)
        if strength is None or one.pairwise is None:
            return one
        interval = (strength.interval.low, strength.interval.high)
        told = replace(one.pairwise, win_rate=strength.win_rate, interval=interval)
        return replace(one, pairwise=told)

    return replace(run, variants=tuple(map(strong, run.variants)))
