"""`image optimize`: rounds of stored runs, each with what it gained over what it began with."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import uuid_utils

from burnish.domain import Spending, UsageError
from burnish.domain.images import ImageRun, ImageRunRequest, Rubric, Variant
from burnish.images.record import ImagePurpose
from burnish.images.rounds import (
    ImageOptimizationResult,
    Margin,
    RoundsBudget,
    optimize_in_rounds,
    round_id,
)

if TYPE_CHECKING:
    from burnish.app.images.runs import ImageRuns


async def optimize(
    images: ImageRuns,
    request: ImageRunRequest | None,
    budget: RoundsBudget,
    optimization_id: str | None,
    progress: Callable[[ImageRun], None] | None,
) -> ImageOptimizationResult:
    """Begin one, or go on with one: its first round says what was asked for."""
    identity = optimization_id or str(uuid_utils.uuid7())
    wish = request or (await images.get(round_id(identity, 1))).request

    async def carry(run_id: str, wanted: ImageRunRequest) -> ImageRun:
        known = await _stored(images, run_id)
        if known is None:
            await images.create(wanted, run_id=run_id)
        elif known.status.ended:
            return known
        return await images.execute(run_id, progress=progress)

    async def weigh(run: ImageRun, winner: Variant, parent: Rubric | None) -> Margin:
        return await _margin(images, run, winner, parent)

    return await optimize_in_rounds(identity, wish, budget, carry=carry, weigh=weigh)


async def _stored(images: ImageRuns, run_id: str) -> ImageRun | None:
    try:
        return await images.get(run_id)
    except UsageError:
        return None


async def _margin(
    images: ImageRuns, run: ImageRun, winner: Variant, parent: Rubric | None
) -> Margin:
    """A comparison of the anchor and the winner, kept under an id of its own, so that nobody pays
    for the verdict on the anchor twice."""
    comparison_id = f"{run.run_id}-margin"
    try:
        known = await images.comparison(comparison_id)
        return Margin(comparison_id=comparison_id, parent=known.left_rubric, spending=Spending())
    except UsageError:
        pass
    assert run.anchor_commit_id is not None
    assert winner.commit_id is not None
    assert winner.rubric is not None
    anchor = await images.commit(run.anchor_commit_id)
    drawn = await images.commit(winner.commit_id)
    spending = Spending()
    if parent is None:
        judgement = await images.judged(anchor, run.request)
        parent = judgement.rubric
        spending = Spending({ImagePurpose.JUDGE.value: judgement.usage})
    await images.keep_comparison(
        comparison_id, anchor, drawn, (parent, winner.rubric), run.request.judge_model
    )
    return Margin(comparison_id=comparison_id, parent=parent, spending=spending)
