"""Small pictures of pictures."""

from __future__ import annotations

import io

from burnish.images.decoding import open_picture

THUMBNAIL_TYPE = "image/webp"
LONGEST_EDGE = 320


def thumbnail(data: bytes, edge: int = LONGEST_EDGE) -> bytes:
    """A WebP within a square; a smaller picture keeps its size, and transparency stays."""
    with open_picture(data) as picture:
        mode = "RGBA" if picture.has_transparency_data else "RGB"
        small = picture.convert(mode)
    small.thumbnail((edge, edge))
    written = io.BytesIO()
    small.save(written, "WEBP", quality=82, method=4)
    return written.getvalue()
