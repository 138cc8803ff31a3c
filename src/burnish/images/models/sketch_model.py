"""An image model that needs nothing but Pillow: it draws what the prompt says, by rules."""

from __future__ import annotations

import asyncio

from burnish.domain.image_parts import DrawnImage
from burnish.domain.images import Quality
from burnish.images.models.pillow import require_pillow


class SketchModel:
    """`sketch`: the same prompt, quality and base picture give the same bytes.

    It knows a vocabulary of things, colours, counts, places, lights and styles. Its own pictures
    carry their scene along, so that an edit keeps what it was not asked to change; a foreign one
    becomes the background.
    """

    name = "sketch"
    label = "sketch (offline, drawn by rules)"

    def __init__(self) -> None:
        require_pillow("the image model sketch")

    async def generate(self, prompt: str, *, quality: Quality) -> DrawnImage:
        """A picture of the prompt."""
        from burnish.images.models.sketch.pictures import draw_prompt  # noqa: PLC0415

        return DrawnImage(data=await asyncio.to_thread(draw_prompt, prompt, quality))

    async def edit(self, base: bytes, prompt: str, *, quality: Quality) -> DrawnImage:
        """The base picture, changed as the prompt says."""
        from burnish.images.models.sketch.pictures import redraw  # noqa: PLC0415

        return DrawnImage(data=await asyncio.to_thread(redraw, base, prompt, quality))

    async def close(self) -> None:
        """Nothing is held."""
