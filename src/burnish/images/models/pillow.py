"""Pillow, which comes with an extra: asked for in words, and opening pictures within limits."""

from __future__ import annotations

import contextlib
import io
from importlib.util import find_spec
from typing import TYPE_CHECKING

from burnish.domain import UsageError

if TYPE_CHECKING:
    from PIL import Image

_FORMATS = ("PNG", "JPEG", "WEBP")
_MOST_PIXELS = 25_000_000


def require_pillow(who: str) -> None:
    """Refuse in words where Pillow is not installed."""
    if find_spec("PIL") is None:
        raise UsageError(
            what=f"{who} cannot be used",
            why="it works with Pillow, which is not installed",
            fix="pip install 'burnish[images]'",
            code="missing_extra",
        )


def turn_upright(picture: Image.Image) -> None:
    """As a browser shows it: a phone writes how it was held beside the pixels."""
    from PIL import ImageOps  # noqa: PLC0415 - an extra

    # What cannot be read says nothing.
    with contextlib.suppress(Exception):
        ImageOps.exif_transpose(picture, in_place=True)


def open_picture(data: bytes, *, what: str) -> Image.Image:
    """The decoded picture, still with its text chunks; UsageError `not_an_image` for all else."""
    from PIL import Image, UnidentifiedImageError  # noqa: PLC0415 - an extra

    try:
        picture = Image.open(io.BytesIO(data), formats=_FORMATS)
        if picture.width * picture.height > _MOST_PIXELS:
            raise _unfit(
                what, f"it has {picture.width} x {picture.height} pixels, and 25 million is most"
            )
        picture.load()
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError):
        reason = "its bytes cannot be read as PNG, JPEG or WebP"
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        reason = "it has more than 25 million pixels"
    else:
        turn_upright(picture)
        return picture
    raise _unfit(what, reason)


def _unfit(what: str, why: str) -> UsageError:
    return UsageError(
        what=what,
        why=why,
        fix="give a PNG, JPEG or WebP of at most 25 megapixels",
        code="not_an_image",
    )
