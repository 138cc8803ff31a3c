"""Pictures as bytes: decoded within limits or refused, made small, compared.

Nothing is believed but what was decoded: not a name, not a content type. The size is known from the
header before memory for pixels is taken, and the format is one of three.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from burnish.domain import UsageError
from burnish.domain.images.runs import ImageFile
from burnish.images.models.pillow import require_pillow, turn_upright
from burnish.support.threads import DaemonThreads

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFile import ImageFile as Picture

T = TypeVar("T")
# Beside the event loop, and never on all processors: many pictures often come at the same moment,
# and whoever asks a server for anything would wait for all of their decoding.
_background = DaemonThreads(max(1, (os.cpu_count() or 2) - 1))
_foreground = DaemonThreads(1)
LARGEST_BYTES = 20_000_000
MOST_PIXELS = 25_000_000
MEDIA_TYPES = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp"}
THUMBNAIL_TYPE = "image/webp"
THUMBNAIL_EDGE = 320
_COMPARED_EDGE = 1024
# Smaller differences are what lossy formats and rounding make of equal pictures.
_NOTICEABLE = 24
_HEAT = ((0, 0, 0), (255, 140, 0), (255, 245, 150))


async def on_pixels(function: Callable[..., T], *arguments: object) -> T:
    """The function's result; it waits for its turn."""
    return await _background.run(function, *arguments)


async def on_pixels_at_once(function: Callable[..., T], *arguments: object) -> T:
    """For what somebody waits for: it does not stand behind the pictures of runs."""
    return await _foreground.run(function, *arguments)


def decode(data: bytes) -> ImageFile:
    """What the bytes are, once every pixel was read; UsageError `INVALID_IMAGE` when they are none."""
    picture = open_picture(data)
    with picture:
        return ImageFile(
            digest=hashlib.sha256(data).hexdigest(),
            media_type=MEDIA_TYPES[str(picture.format)],
            width=picture.width,
            height=picture.height,
            size=len(data),
        )


def open_picture(data: bytes) -> Picture:
    """The loaded picture, for whoever works on its pixels."""
    if len(data) > LARGEST_BYTES:
        raise _refused(f"it has {len(data):,} bytes, more than {LARGEST_BYTES:,}")
    picture = _header(data)
    if picture.width * picture.height > MOST_PIXELS:
        raise _refused(_too_many(picture.width, picture.height))
    if getattr(picture, "n_frames", 1) > 1:
        raise _refused("it is animated", "give a single picture")
    try:
        picture.load()
    except Exception as error:  # noqa: BLE001 - a decoder may raise anything at broken bytes
        raise _refused(f"its pixels cannot be read ({type(error).__name__})") from None
    return picture


def _header(data: bytes) -> Picture:
    require_pillow("the decoder of pictures")
    # Not through Image.open: at a large size that one warns, for the whole process, or raises.
    from PIL.JpegImagePlugin import JpegImageFile  # noqa: PLC0415
    from PIL.PngImagePlugin import PngImageFile  # noqa: PLC0415
    from PIL.WebPImagePlugin import WebPImageFile  # noqa: PLC0415

    kind: type[Picture]
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        kind = PngImageFile
    elif data.startswith(b"\xff\xd8\xff"):
        kind = JpegImageFile
    elif data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        _check_webp(data)
        kind = WebPImageFile
    else:
        raise _refused("it is neither PNG nor JPEG nor WebP")
    try:
        return kind(io.BytesIO(data))
    except Exception as error:  # noqa: BLE001 - a decoder may raise anything at broken bytes
        raise _refused(f"its header cannot be read ({type(error).__name__})") from None


def _check_webp(data: bytes) -> None:
    """Its decoder takes memory for the canvas at once, so the size is read beforehand."""
    kind, head = data[12:16], data[20:30]
    if len(head) < 10:
        raise _refused("its header cannot be read (too short)")
    if kind == b"VP8X":
        width = 1 + int.from_bytes(head[4:7], "little")
        height = 1 + int.from_bytes(head[7:10], "little")
    elif kind == b"VP8L":
        bits = int.from_bytes(head[1:5], "little")
        width, height = 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    else:
        width = int.from_bytes(head[6:8], "little") & 0x3FFF
        height = int.from_bytes(head[8:10], "little") & 0x3FFF
    if width * height > MOST_PIXELS:
        raise _refused(_too_many(width, height))


def _too_many(width: int, height: int) -> str:
    return f"it has {width} × {height} pixels, more than {MOST_PIXELS // 1_000_000} million"


def _refused(why: str, fix: str = "give a PNG, JPEG or WebP picture") -> UsageError:
    return UsageError(what="the picture cannot be used", why=why, fix=fix, code="INVALID_IMAGE")


def thumbnail(data: bytes, edge: int = THUMBNAIL_EDGE) -> bytes:
    """A WebP within a square; a smaller picture keeps its size, and transparency stays."""
    with open_picture(data) as picture:
        turn_upright(picture)
        mode = "RGBA" if picture.has_transparency_data else "RGB"
        small = picture.convert(mode)
    small.thumbnail((edge, edge))
    written = io.BytesIO()
    small.save(written, "WEBP", quality=82, method=4)
    return written.getvalue()


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
    first.thumbnail((_COMPARED_EDGE, _COMPARED_EDGE))
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
        turn_upright(picture)
        if not picture.has_transparency_data:
            return picture.convert("RGB")
        above = picture.convert("RGBA")
    ground = Image.new("RGBA", above.size, (255, 255, 255, 255))
    return Image.alpha_composite(ground, above).convert("RGB")
