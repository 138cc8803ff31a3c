"""Reports of compressions."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from burnish.app.compress.stored import read_compression
from burnish.server.compressions.schemas import CompressionView
from burnish.server.http.errors import errors
from burnish.server.http.requests import OptimizationId
from burnish.server.http.services import Serving

router = APIRouter(prefix="/v1/private/optimizations", tags=["optimizations"])


@router.get("/{optimization_id}/compression", responses=errors(404, 409))
async def get_compression(
    serving: Serving,
    optimization_id: OptimizationId,
    calls_per_month: Annotated[
        int | None,
        Query(ge=0, lt=2**53, description="Says what the shorter prompt saves in a month."),
    ] = None,
) -> CompressionView:
    """What was shortened, what was kept and what was not; 409 as long as it has not ended."""
    found = await read_compression(
        serving.workspace, serving.project, optimization_id, calls_per_month=calls_per_month
    )
    return CompressionView.of(*found)
