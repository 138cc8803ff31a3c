"""From a prompt to the bytes of a picture, and from a picture and a prompt to the next."""

from __future__ import annotations

import io
import json
from dataclasses import replace

from PIL import Image
from PIL.PngImagePlugin import PngImageFile, PngInfo

from burnish.domain.images import Quality
from burnish.images.models.opening import open_picture
from burnish.images.models.sketch.drawing import draw_scene
from burnish.images.models.sketch.merging import merge
from burnish.images.models.sketch.reading import read_prompt
from burnish.images.models.sketch.scene import Scene

SCENE_KEY = "burnish-sketch-scene"
_SIDES = {Quality.LOW: 384, Quality.MEDIUM: 512, Quality.HIGH: 768}
_LONGEST_SCENE = 20_000


def draw_prompt(prompt: str, quality: Quality) -> bytes:
    """A PNG of what the prompt says; the scene travels in a text chunk."""
    scene, _ = read_prompt(prompt)
    return _encoded(draw_scene(scene, _SIDES[quality], scale=_scale(quality)), scene)


def redraw(base: bytes, prompt: str, quality: Quality) -> bytes:
    """A PNG of the base's scene, changed as the prompt says.

    A picture that is not the sketch's own becomes the background of what the prompt adds, under the
    prompt's light and style.
    """
    picture = open_picture(base, what="the base picture cannot be edited")
    side, scale = _SIDES[quality], _scale(quality)
    before = _scene_of(picture)
    shown = before.things if before else ()
    asked, banned = read_prompt(prompt, frozenset(one.word for one in shown))
    if before is not None:
        scene = merge(before, asked, banned)
        return _encoded(draw_scene(scene, side, scale=scale), scene)
    ground = _square(picture)
    seen = replace(asked, backdrops=("tabletop",), light=asked.light or "studio-lit")
    return _encoded(draw_scene(seen, side, scale=scale, ground=ground), None)


def _scale(quality: Quality) -> int:
    return 1 if quality is Quality.LOW else 2


def _scene_of(picture: Image.Image) -> Scene | None:
    """The scene that came with the file, which may be forged: it is read as a stranger's words."""
    text = picture.text.get(SCENE_KEY) if isinstance(picture, PngImageFile) else None
    if not isinstance(text, str) or len(text) > _LONGEST_SCENE:
        return None
    try:
        return Scene.of(json.loads(text))
    except (ValueError, RecursionError):
        return None


def _square(picture: Image.Image) -> Image.Image:
    """The middle of the picture, on white where it is transparent."""
    side = min(picture.size)
    left, top = (picture.width - side) // 2, (picture.height - side) // 2
    crop = picture.convert("RGBA").crop((left, top, left + side, top + side))
    paper = Image.new("RGBA", crop.size, (255, 255, 255, 255))
    return Image.alpha_composite(paper, crop).convert("RGB")


def _encoded(image: Image.Image, scene: Scene | None) -> bytes:
    info = PngInfo()
    if scene is not None:
        info.add_text(SCENE_KEY, json.dumps(scene.to_json(), separators=(",", ":")))
    info.add_text("Software", "Burnish sketch (offline, drawn by rules)")
    out = io.BytesIO()
    image.save(out, "PNG", pnginfo=info, compress_level=2)
    return out.getvalue()
