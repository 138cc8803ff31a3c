"""Promotion of a candidate to the agent's active configuration: reviewed, by command or over HTTP."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from burnish.app.agents.passing_items import asked_to_keep_passing, broken_by, require_kept
from burnish.app.optimize.run_spec import AGENT_MODEL
from burnish.app.report.differences import Difference, difference
from burnish.app.report.runs.evidence import (
    COMPRESS,
    counted_measures,
    evidence_of,
    is_proven,
    is_refuted,
)
from burnish.app.wiring import Workspace
from burnish.domain import (
    AgentVersion,
    Candidate,
    Configuration,
    ConflictError,
    OptimizationRecord,
    TrialResult,
    UsageError,
)
from burnish.domain.optimizations.records import is_shown_worse
from burnish.evaluation.broken_items import BrokenItems


@dataclass(frozen=True, slots=True, kw_only=True)
class PromotionReview:
    """A promotion that could be, and what it would change in what is in use."""

    promotion: Promotion
    evidence: Mapping[str, Any] | None

    @property
    def difference(self) -> Difference:
        """From what is in use, or from what the run began with, to the candidate."""
        return self.promotion.difference

    @property
    def begins_from_active(self) -> bool:
        """Whether the run began with what is in use, so that the two were compared."""
        active = self.promotion.active
        return active is None or self.promotion.began_with(active.configuration)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Promotion:
    """What would be promoted, and what speaks for and against it.

    `broken` are items that the baseline passed and the candidate failed; `keep_passing` tells whether
    the run was to let nothing win that breaks one.
    """

    record: OptimizationRecord
    baseline: Candidate
    candidate: Candidate
    score: float | None
    baseline_score: float | None
    evidence: Mapping[str, Any] | None
    doubts: tuple[str, ...]
    active: AgentVersion | None
    broken: BrokenItems = field(default_factory=BrokenItems)
    keep_passing: bool = False

    def require_kept(self, keep_passing: bool | None = None) -> None:
        """Refuse what breaks items; None asks for that where the run did."""
        if self.keep_passing if keep_passing is None else keep_passing:
            require_kept(self.broken, self.record.agent_name)

    @property
    def difference(self) -> Difference:
        """From what is in use, or from what the run began with, to the candidate."""
        current = self.baseline if self.active is None else self.active
        before = current.configuration.naming(self.agent_model)
        return difference(before, self.candidate.configuration)

    @property
    def agent_model(self) -> str | None:
        """The agent's own model, where the run could choose another: what names none means it."""
        return self.record.spec.get(AGENT_MODEL)

    def began_with(self, configuration: Configuration) -> bool:
        """Whether the run began with a configuration."""
        return configuration.same_as(self.baseline.configuration, self.agent_model)

    @property
    def written(self) -> Configuration:
        """What the files held when the run began: it may have begun from a version instead."""
        written = self.record.spec.get("written")
        if written is None:
            return self.baseline.configuration
        return Configuration.of(written).naming(self.agent_model)

    @property
    def already_active(self) -> bool:
        """Whether the active version is this configuration, so that there is nothing to do."""
        active, chosen = self.active, self.candidate.configuration
        return active is not None and active.configuration.same_as(chosen, self.agent_model)


async def prepare_promotion(
    workspace: Workspace, record: OptimizationRecord, baseline: Candidate, candidate: Candidate
) -> Promotion:
    """Everything that is known of a candidate; nothing is changed yet."""
    trials = {
        trial.candidate_id: trial
        for trial in await workspace.optimizations.list_trials(record.id)
        if trial.counts
    }
    own, base = trials.get(candidate.id), trials.get(baseline.id)
    score = None if own is None else own.objective_score
    baseline_score = None if base is None else base.objective_score
    result = record.result or {}
    is_best = candidate.id == (result.get("best") or {}).get("candidate_id")
    keep_passing = asked_to_keep_passing(record)
    broken = await broken_by(workspace, record, baseline, candidate)
    doubts = _doubts(record, candidate, [base, own], is_best=is_best)
    if keep_passing and broken.changes:
        doubts.append(broken.in_words())
    return Promotion(
        record=record,
        baseline=baseline,
        candidate=candidate,
        score=score,
        baseline_score=baseline_score,
        evidence=result.get("improvement") if is_best else None,
        doubts=tuple(doubts),
        active=await workspace.agents.active_version(record.agent_name),
        broken=broken,
        keep_passing=keep_passing,
    )


async def promote(
    workspace: Workspace,
    promotion: Promotion,
    *,
    author: str = "",
    note: str = "",
    more: Mapping[str, Any] | None = None,
) -> AgentVersion:
    """The new active version; ConflictError when somebody promoted another in the meantime.

    What was in use before the first promotion is kept too, so that there is something to go back to.
    """
    record, candidate, active = promotion.record, promotion.candidate, promotion.active
    if active is None and promotion.baseline.configuration.hash != candidate.configuration.hash:
        active = await workspace.agents.add_version(
            record.agent_name,
            promotion.baseline.configuration,
            note="as it was before the first promotion",
            origin={"source": "baseline", "optimization_id": record.id},
            expected_active=0,
        )
    return await workspace.agents.add_version(
        record.agent_name,
        candidate.configuration,
        author=author,
        note=note,
        origin={
            "optimization_id": record.id,
            "candidate_id": candidate.id,
            "score": promotion.score,
            "baseline_score": promotion.baseline_score,
            "improvement": None if promotion.evidence is None else dict(promotion.evidence),
            **(more or {}),
        },
        expected_active=0 if active is None else active.version,
    )


def _doubts(
    record: OptimizationRecord,
    candidate: Candidate,
    trials: Sequence[TrialResult | None],
    *,
    is_best: bool,
) -> list[str]:
    doubts = []
    result = record.result or {}
    base, own = (None if one is None else one.objective_score for one in trials)
    if not record.status.final:
        doubts.append("the optimization has not ended yet")
    if candidate.number == 0:
        doubts.append("this is the baseline itself: nothing changes")
    elif own is None:
        doubts.append("it was never scored to the end, so nothing speaks for it")
    elif record.optimizer_name == COMPRESS and is_best:
        doubts.extend(_doubts_of_brevity(result))
    elif base is not None and own <= base and not (is_best and counted_measures(result)):
        doubts.append(f"it did not beat the baseline: {own:.3f} against {base:.3f}")
    else:
        doubts.extend(_doubts_of_evidence(result, is_best=is_best))
    return doubts


def _doubts_of_brevity(result: Mapping[str, Any]) -> list[str]:
    """A compression is to be shorter and as good: that it is no better speaks not against it."""
    improvement = result.get("improvement")
    if improvement is None or not improvement["held_out"]:
        return ["it was not compared on held-out items, so it may be worse than it seems"]
    return (
        ["on held-out items it is worse than the baseline"] if is_shown_worse(improvement) else []
    )


def _doubts_of_evidence(result: Mapping[str, Any], *, is_best: bool) -> list[str]:
    improvement = result.get("improvement")
    if not is_best:
        return ["only the best candidate is confirmed on held-out items, and this is another"]
    if improvement is None or not improvement["held_out"]:
        return ["it was not compared on held-out items, so its score may be luck"]
    if is_refuted(result):
        return ["on held-out items it is no better than the baseline"]
    if improvement.get("missing") and not is_proven(result):
        return ["answers of the comparison on held-out items never came, so nothing is proven"]
    if not is_proven(result):
        return ["on held-out items its gain may be chance"]
    return []


@dataclass(frozen=True, slots=True, kw_only=True)
class Promoted:
    """The new version, what it changes, and what speaks against it all the same."""

    version: AgentVersion
    candidate: Candidate
    difference: Difference
    warnings: Sequence[str]


async def promote_candidate(
    workspace: Workspace,
    optimization_id: str,
    candidate_id: str | None = None,
    *,
    promoted_by: str,
    note: str = "",
    expected_version: int | None = None,
    origin: Mapping[str, Any] | None = None,
    keep_passing: bool | None = None,
) -> Promoted:
    """The new active version; ConflictError when it is not for this one to follow.

    Without a candidate it is the best. `expected_version` is the active version that the promoter has
    seen (0: none). Without it, the agent has to run under what the run began with: else somebody
    changed it in the meantime. With `keep_passing` what breaks items that the baseline passes is
    refused; None asks for that where the run did.
    """
    record = await workspace.optimizations.get_optimization(optimization_id)
    candidates = await workspace.optimizations.list_candidates(optimization_id)
    candidate = find_candidate(record, candidates, candidate_id)
    promotion = await prepare_promotion(workspace, record, candidates[0], candidate)
    promotion.require_kept(keep_passing)
    if expected_version is None or (expected_version == 0 and promotion.active is None):
        _require_following_the_baseline(promotion)
    else:
        promotion = await _following(workspace, promotion, expected_version)
    version = await promote(workspace, promotion, author=promoted_by, note=note, more=origin)
    return Promoted(
        version=version,
        candidate=candidate,
        difference=promotion.difference,
        warnings=promotion.doubts,
    )


def _require_following_the_baseline(promotion: Promotion) -> None:
    active = promotion.active
    agent = promotion.record.agent_name
    if promotion.score is None and promotion.candidate.number > 0:
        raise ConflictError(
            what=f"the agent {agent!r} was not changed",
            why="the candidate was never scored to the end, so nothing speaks for it",
            fix="take one with a score, or send expected_version to promote all the same",
            code="not_scored",
        )
    if active is None:
        return
    if promotion.already_active:
        raise ConflictError(
            what=f"the agent {agent!r} was not changed",
            why=f"its active version {active.version} is this configuration already",
            fix="there is nothing to do",
            code="already_active",
        )
    if not promotion.began_with(active.configuration):
        raise ConflictError(
            what=f"the agent {agent!r} was not changed",
            why=f"its active version {active.version} is not what the run began with, so the "
            "candidate was never compared with it",
            fix=f"start a run from version {active.version}, or send expected_version: "
            f"{active.version} to promote all the same",
            code="version_moved",
        )


async def _following(workspace: Workspace, promotion: Promotion, expected: int) -> Promotion:
    """As the promoter has seen it; whether that still holds, the transaction decides."""
    if expected == 0:
        return replace(promotion, active=None)
    baseline, agent = promotion.baseline.configuration, promotion.record.agent_name
    seen = AgentVersion(agent_name=agent, version=expected, configuration=baseline, active=True)
    with contextlib.suppress(UsageError):  # One that is not there is not the active one either.
        seen = await workspace.agents.get_version(agent, expected)
    doubts = promotion.doubts
    if not promotion.began_with(seen.configuration):
        doubts = (*doubts, f"it was never compared with version {expected}, which it replaces")
    return replace(promotion, active=seen, doubts=doubts)


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
