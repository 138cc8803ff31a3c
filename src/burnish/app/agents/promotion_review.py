"""What somebody looks at before a candidate is promoted; nothing is changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from burnish.app.agents.promotion import Promotion, prepare_promotion
from burnish.app.agents.promotions import find_candidate
from burnish.app.report.differences import Difference, difference
from burnish.app.report.run_evidence import evidence_of
from burnish.app.wiring import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class PromotionReview:
    """A promotion that could be, and what it would change in what is in use."""

    promotion: Promotion
    evidence: Mapping[str, Any] | None

    @property
    def difference(self) -> Difference:
        """From what is in use, or from what the run began with, to the candidate."""
        active = self.promotion.active
        current = self.promotion.baseline if active is None else active
        return difference(current.configuration, self.promotion.candidate.configuration)

    @property
    def begins_from_active(self) -> bool:
        """Whether the run began with what is in use, so that the two were compared."""
        active = self.promotion.active
        baseline = self.promotion.baseline.configuration
        return active is None or active.configuration.hash == baseline.hash


async def review_promotion(
    workspace: Workspace, optimization_id: str, candidate_id: str | None
) -> PromotionReview:
    """Of a candidate, or without one of the best."""
    record = await workspace.optimizations.get_optimization(optimization_id)
    candidates = await workspace.optimizations.list_candidates(optimization_id)
    candidate = find_candidate(record, candidates, candidate_id)
    promotion = await prepare_promotion(workspace, record, candidates[0], candidate)
    compared = promotion.evidence is not None
    return PromotionReview(promotion=promotion, evidence=evidence_of(record) if compared else None)
