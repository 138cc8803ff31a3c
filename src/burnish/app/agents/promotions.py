"""Promotions over HTTP: by a person, on the version that the run began with, one at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from burnish.app.agents.promotion import Promotion, prepare_promotion, promote
from burnish.app.report.differences import Difference
from burnish.app.wiring import Workspace
from burnish.domain import (
    AgentVersion,
    Candidate,
    ConflictError,
    OptimizationRecord,
    UsageError,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromotionRequest:
    """Who promotes which candidate, and why. Without a candidate it is the best.

    `expected_version` is the active version that the promoter has seen (0: none). Without it, the
    agent has to run under what the run began with: else somebody changed it in the meantime.
    """

    promoted_by: str
    note: str = ""
    candidate_id: str | None = None
    expected_version: int | None = None
    origin: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Promoted:
    """The new version, what it changes, and what speaks against it all the same."""

    version: AgentVersion
    candidate: Candidate
    difference: Difference
    warnings: Sequence[str]


async def promote_candidate(
    workspace: Workspace, optimization_id: str, request: PromotionRequest
) -> Promoted:
    """The new active version; ConflictError when it is not for this one to follow."""
    record = await workspace.optimizations.get_optimization(optimization_id)
    candidates = await workspace.optimizations.list_candidates(optimization_id)
    candidate = find_candidate(record, candidates, request.candidate_id)
    promotion = await prepare_promotion(workspace, record, candidates[0], candidate)
    expected = request.expected_version
    if expected is None or (expected == 0 and promotion.active is None):
        promotion = await _following_the_baseline(workspace, promotion)
    else:
        promotion = _following(promotion, expected)
    version = await promote(
        workspace,
        promotion,
        author=request.promoted_by,
        note=request.note,
        more=request.origin,
    )
    return Promoted(
        version=version,
        candidate=candidate,
        difference=promotion.difference,
        warnings=promotion.doubts,
    )


async def _following_the_baseline(workspace: Workspace, promotion: Promotion) -> Promotion:
    active, baseline = promotion.active, promotion.baseline
    agent = promotion.record.agent_name
    if active is None:
        # What was in use before is kept too, so that there is something to go back to.
        first = await workspace.agents.add_version(
            agent,
            baseline.configuration,
            note="as it was before the first promotion",
            origin={"source": "baseline", "optimization_id": promotion.record.id},
            expected_active=0,
        )
        return replace(promotion, active=first)
    if promotion.already_active:
        raise ConflictError(
            what=f"the agent {agent!r} was not changed",
            why=f"its active version {active.version} is this configuration already",
            fix="there is nothing to do",
            code="already_active",
        )
    if active.configuration.hash != baseline.configuration.hash:
        raise ConflictError(
            what=f"the agent {agent!r} was not changed",
            why=f"its active version {active.version} is not what the run began with, so the "
            "candidate was never compared with it",
            fix=f"start a run from version {active.version}, or send expected_version: "
            f"{active.version} to promote all the same",
            code="version_moved",
        )
    return promotion


def _following(promotion: Promotion, expected: int) -> Promotion:
    """As the promoter has seen it; whether that still holds, the transaction decides."""
    if expected == 0:
        return replace(promotion, active=None)
    seen = AgentVersion(
        agent_name=promotion.record.agent_name,
        version=expected,
        configuration=promotion.baseline.configuration,
        active=True,
    )
    return replace(promotion, active=seen)


def find_candidate(
    record: OptimizationRecord, candidates: Sequence[Candidate], wanted: str | None
) -> Candidate:
    """The wanted one, or the best; UsageError `not_found` when there is none."""
    identity = wanted or record.best_candidate_id
    found = next((one for one in candidates if one.id == identity), None)
    if found is None:
        raise UsageError(
            what=f"optimization {record.id} has no candidate {wanted!r}"
            if wanted
            else f"optimization {record.id} has no best candidate",
            why="no candidate of it has that id" if wanted else "none was scored yet",
            fix="take an id from its trials",
            code="not_found",
        )
    return found
