"""Promotion of a run's candidate, whoever started the run."""

from __future__ import annotations

from fastapi import APIRouter

from burnish.app.agents.promotions import promote_candidate
from burnish.server.agents.promotion_schemas import PromoteBest, PromotionView
from burnish.server.http.errors import errors
from burnish.server.http.requests import OptimizationId
from burnish.server.http.services import Serving

router = APIRouter(prefix="/v1/private/optimizations", tags=["optimizations"])


@router.post("/{optimization_id}/promote", responses=errors(404, 409))
async def promote_winner(
    serving: Serving, optimization_id: OptimizationId, promote: PromoteBest
) -> PromotionView:
    """Make a candidate the agent's active version. Of several at once one wins; others are 409."""
    request = promote.request(promote.candidate_id)
    return PromotionView.of(await promote_candidate(serving.workspace, optimization_id, request))
