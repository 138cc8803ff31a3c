"""A judge that needs nothing but Pillow: it measures pixels, and understands nothing."""

from __future__ import annotations

import asyncio

from burnish.domain.image_parts import Judgement
from burnish.domain.images import Constraints, ObjectivePreset
from burnish.images.models.pillow import require_pillow


class PixelJudge:
    """`pixel-judge`: the same picture and request give the same rubric.

    Whatever it says follows from the decoded pixels and the words of the request; metadata of the
    file plays no part.
    """

    name = "pixel-judge"
    label = "pixel-judge (offline, counts pixels, understands nothing)"

    def __init__(self) -> None:
        require_pillow("the judge pixel-judge")

    async def judge(
        self,
        image: bytes,
        prompt: str,
        *,
        objective: ObjectivePreset,
        constraints: Constraints,
    ) -> Judgement:
        """The rubric that the picture's pixels earn."""
        from burnish.images.models.pixels.verdict import judge_picture  # noqa: PLC0415

        rubric = await asyncio.to_thread(judge_picture, image, prompt, objective, constraints)
        return Judgement(rubric=rubric)

    async def close(self) -> None:
        """Nothing is held."""
