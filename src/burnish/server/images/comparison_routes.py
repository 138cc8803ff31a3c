"""Two commits side by side: a map of their pixels' difference, and both rubrics."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from burnish.server.http.errors import errors
from burnish.server.http.services import Serving
from burnish.server.images.commit_schemas import ImageComparisonView, NewImageComparison
from burnish.server.images.parameters import ComparisonId

router = APIRouter(prefix="/comparisons", tags=["image runs"])
_LINKS: dict[str, Any] = {
    "get_image_comparison": {
        "operationId": "get_image_comparison",
        "parameters": {"comparison_id": "$response.body#/comparison_id"},
    }
}


@router.post("", status_code=201, responses={201: {"links": _LINKS}, **errors(404)})
async def compare_image_commits(serving: Serving, new: NewImageComparison) -> ImageComparisonView:
    """Compare two commits with pictures of one project, and keep what came out."""
    return ImageComparisonView.of(
        await serving.images.compare(new.left_commit_id, new.right_commit_id)
    )


@router.get("/{comparison_id}", responses=errors(404))
async def get_image_comparison(
    serving: Serving, comparison_id: ComparisonId
) -> ImageComparisonView:
    """A comparison that was made."""
    return ImageComparisonView.of(await serving.images.comparison(comparison_id))
