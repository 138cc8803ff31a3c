"""How far the pixels of two pictures differ, and where."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from burnish.images.decoding import open_picture

if TYPE_CHECKING:
    from PIL.Image import Image

_LONGEST_EDGE = 1024
# Smaller differences are what lossy formats and rounding make of equal pictures.
_NOTICEABLE = 24
_HEAT = ((0, 0, 0), (255, 140, 0), (255, 245, 150))


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureDifference:
    """Shares from 0 to 1: of pixels that changed, and of how much they differ on the mean.

    `difference_map` is a PNG: the left picture in faint grey, what changed glowing over it.
    """

    changed_share: float
    mean_difference: float
    difference_map: bytes


def compare_pictures(left: bytes, right: bytes) -> PictureDifference:
    """Pixel by pixel in the size of the left one; a right one of another shape is fitted into it."""
    from PIL import Image, ImageChops, ImageOps, ImageStat  # noqa: PLC0415

    first = _plain(left)
    first.thumbnail((_LONGEST_EDGE, _LONGEST_EDGE))
    second = _plain(right)
    if second.size != first.size:
        second = ImageOps.pad(second, first.size, color=(127, 127, 127))
    channels = ImageChops.difference(first, second)
    # The channel that differs most says it best: a mean would hide pure changes of hue.
    red, green, blue = channels.split()
    largest = ImageChops.lighter(ImageChops.lighter(red, green), blue)
    changed = sum(largest.histogram()[_NOTICEABLE:]) / (first.width * first.height)
    mean = sum(ImageStat.Stat(channels).mean) / 3 / 255
    grey = ImageOps.grayscale(first).point(lambda value: 40 + value // 4)
    heat = ImageOps.colorize(largest, black=_HEAT[0], mid=_HEAT[1], white=_HEAT[2], midpoint=96)
    mask = largest.point(lambda value: 0 if value < _NOTICEABLE else min(255, 96 + value))
    shown = Image.composite(heat, grey.convert("RGB"), mask)
    written = io.BytesIO()
    shown.save(written, "PNG", compress_level=6)
    return PictureDifference(
        changed_share=round(changed, 4),
        mean_difference=round(mean, 4),
        difference_map=written.getvalue(),
    )


def _plain(data: bytes) -> Image:
    """Without transparency, which has no difference of its own: on white, as a page shows it."""
    from PIL import Image  # noqa: PLC0415

    with open_picture(data) as picture:
        if not picture.has_transparency_data:
            return picture.convert("RGB")
        above = picture.convert("RGBA")
    ground = Image.new("RGBA", above.size, (255, 255, 255, 255))
    return Image.alpha_composite(ground, above).convert("RGB")
