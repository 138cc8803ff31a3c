"""Bytes that claim to be a picture: decoded within limits, or refused.

Nothing is believed but what was decoded: not a name, not a content type. The size is known from the
header before memory for pixels is taken, and the format is one of three.
"""

from __future__ import annotations

import hashlib
import io
from typing import TYPE_CHECKING

from burnish.domain import UsageError
from burnish.domain.images import ImageFile
from burnish.images.models.pillow import require_pillow

if TYPE_CHECKING:
    from PIL.ImageFile import ImageFile as Picture

LARGEST_BYTES = 20_000_000
MOST_PIXELS = 25_000_000
MEDIA_TYPES = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp"}


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
