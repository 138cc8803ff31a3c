"""The bytes of pictures, of the type that they were decoded as, and never run as anything."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Response

from burnish.server.http.errors import errors
from burnish.server.http.services import Services, Serving
from burnish.server.images.parameters import Digest

router = APIRouter(prefix="/images", tags=["image runs"])
_PICTURE = {"schema": {"type": "string", "format": "binary"}}
_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The picture. Its name is its content, so it may be kept for ever.",
        "content": dict.fromkeys(("image/png", "image/jpeg", "image/webp"), _PICTURE),
    },
    304: {"description": "It is what the client has.", "content": {}},
    **errors(404),
}
_Known = Annotated[str | None, Header(alias="If-None-Match", description="The ETag it has.")]


@router.get("/{digest}", response_class=Response, responses=_ANSWERS)
async def get_image(serving: Serving, digest: Digest, if_none_match: _Known = None) -> Response:
    """One picture, whole."""
    return await _answer(serving, digest, if_none_match, thumbnail=False)


@router.get("/{digest}/thumbnail", response_class=Response, responses=_ANSWERS)
async def get_image_thumbnail(
    serving: Serving, digest: Digest, if_none_match: _Known = None
) -> Response:
    """A small one of it."""
    return await _answer(serving, digest, if_none_match, thumbnail=True)


async def _answer(
    serving: Services, digest: str, known: str | None, *, thumbnail: bool
) -> Response:
    tag = f'"{digest}-thumbnail"' if thumbnail else f'"{digest}"'
    headers = {
        "Cache-Control": "private, max-age=31536000, immutable",
        "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
        "Content-Disposition": "inline",
        "ETag": tag,
    }
    if known is not None and tag in known:
        # Only what is stored is confirmed: others' pictures cannot be asked for by guessing.
        await serving.images.repository.file(digest)
        return Response(status_code=304, headers=headers)
    data, media_type = await serving.images.image(digest, thumbnail=thumbnail)
    return Response(data, media_type=media_type, headers=headers)
