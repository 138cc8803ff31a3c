"""Sketch image model: draws a prompt by rules with nothing but Pillow, and says what it left out."""

from __future__ import annotations

import asyncio
import io
import json
from dataclasses import replace
from typing import TYPE_CHECKING

from burnish.domain.images.protocols import DrawnImage
from burnish.domain.images.runs import Quality
from burnish.images.models.pillow import open_picture, require_pillow
from burnish.images.models.sketch.reading import Scene, read_prompt

if TYPE_CHECKING:
    from PIL import Image

PROMPTS_KEY = "burnish-sketch-prompts"
_SIDES = {Quality.LOW: 384, Quality.MEDIUM: 512, Quality.HIGH: 768}
_MOST_EDITS = 20
_LONGEST_PROMPT = 4000
_LONGEST_CHUNK = 600_000


class SketchModel:
    """`sketch`: the same prompt, quality and base picture give the same bytes.

    It draws sky, ground, light, palette and framing from the words, and a labelled shape for each
    noun. A strip at the bottom names the words that it did not draw. Its own pictures carry their
    prompts along, so that an edit keeps what it was not asked to change; a foreign one becomes the
    background.
    """

    name = "sketch"
    label = "sketch (offline, drawn by rules)"

    def __init__(self) -> None:
        require_pillow("the image model sketch")

    async def generate(self, prompt: str, *, quality: Quality) -> DrawnImage:
        """A picture of the prompt."""
        return await asyncio.to_thread(draw_prompt, prompt, quality)

    async def edit(self, base: bytes, prompt: str, *, quality: Quality) -> DrawnImage:
        """The base picture, changed as the prompt says."""
        return await asyncio.to_thread(redraw, base, prompt, quality)

    async def close(self) -> None:
        """Nothing is held."""


def draw_prompt(prompt: str, quality: Quality) -> DrawnImage:
    """A PNG of what the prompt says; the prompt travels in a text chunk."""
    return _drawn(scene_of((prompt,)), quality, (prompt,))


def redraw(base: bytes, prompt: str, quality: Quality) -> DrawnImage:
    """A PNG of the base's scene, changed as the prompt says.

    A picture that is not the sketch's own becomes the background of what the prompt adds, under the
    prompt's light and style.
    """
    picture = open_picture(base, what="the base picture cannot be edited")
    before = _prompts_of(picture)
    if before:
        prompts = (before[0], *before[1:][-_MOST_EDITS:], prompt)
        return _drawn(scene_of(prompts), quality, prompts)
    asked, _ = read_prompt(prompt, frozenset())
    seen = replace(asked, light=asked.light or "studio-lit")
    return _drawn(seen, quality, (), _square(picture))


def scene_of(prompts: tuple[str, ...]) -> Scene:
    """The scene of a first prompt, changed by those that follow."""
    scene, _ = read_prompt(prompts[0])
    for prompt in prompts[1:]:
        scene = scene.edited(*read_prompt(prompt, frozenset(one.word for one in scene.things)))
    return scene


def _prompts_of(picture: Image.Image) -> tuple[str, ...]:
    """The prompts that came with the file; they may be forged, and any text is some prompt."""
    text = getattr(picture, "text", {}).get(PROMPTS_KEY)
    try:
        found = json.loads(text) if isinstance(text, str) and len(text) <= _LONGEST_CHUNK else None
    except (ValueError, RecursionError):
        return ()
    texts = found if isinstance(found, list) else []
    return tuple(texts) if all(isinstance(one, str) for one in texts) else ()


def _square(picture: Image.Image) -> Image.Image:
    """The middle of the picture, on white where it is transparent."""
    from PIL import Image  # noqa: PLC0415

    side = min(picture.size)
    left, top = (picture.width - side) // 2, (picture.height - side) // 2
    crop = picture.convert("RGBA").crop((left, top, left + side, top + side))
    return Image.alpha_composite(Image.new("RGBA", crop.size, "white"), crop).convert("RGB")


def _drawn(
    scene: Scene, quality: Quality, prompts: tuple[str, ...], ground: Image.Image | None = None
) -> DrawnImage:
    from PIL.PngImagePlugin import PngInfo  # noqa: PLC0415

    from burnish.images.models.sketch.drawing import draw_scene  # noqa: PLC0415 - loads Pillow

    info = PngInfo()
    if prompts:
        info.add_text(PROMPTS_KEY, json.dumps([one[:_LONGEST_PROMPT] for one in prompts]))
    info.add_text("Software", "Burnish sketch (offline, drawn by rules)")
    out = io.BytesIO()
    image = draw_scene(scene, _SIDES[quality], ground=ground)
    image.save(out, "PNG", pnginfo=info, compress_level=2)
    return DrawnImage(data=out.getvalue(), not_drawn=tuple(sorted(scene.undrawn)))
