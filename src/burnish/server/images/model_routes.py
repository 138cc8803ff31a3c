"""Which models an image run can name."""

from __future__ import annotations

from fastapi import APIRouter

from burnish.server.http.errors import errors
from burnish.server.http.services import Serving
from burnish.server.images.model_schemas import ImageModelsView

router = APIRouter(tags=["image runs"])


@router.get("/image-models", responses=errors())
async def list_image_models(serving: Serving) -> ImageModelsView:
    """What draws, judges and writes here, and what each lacks that cannot be used."""
    return ImageModelsView.of(serving.images.options(), serving.images.models.settings.table)
