"""A candidate made the agent's active configuration, after a look at what speaks for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from burnish.app.report.differences import Difference, difference
from burnish.app.report.run_evidence import COMPRESS
from burnish.app.report.trades import counted_measures, is_proven, is_refuted, is_shown_worse
from burnish.app.wiring import Workspace
from burnish.domain import AgentVersion, Candidate, OptimizationRecord, TrialResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Promotion:
    """What would be promoted, and what speaks for and against it."""

    record: OptimizationRecord
    baseline: Candidate
    candidate: Candidate
    score: float | None
    baseline_score: float | None
    evidence: Mapping[str, Any] | None
    doubts: tuple[str, ...]
    active: AgentVersion | None

    @property
    def difference(self) -> Difference:
        """From the configuration as it was given to the candidate."""
        return difference(self.baseline.configuration, self.candidate.configuration)

    @property
    def already_active(self) -> bool:
        """Whether the active version is this configuration, so that there is nothing to do."""
        active = self.active
        return active is not None and active.configuration.hash == self.candidate.configuration.hash


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
    return Promotion(
        record=record,
        baseline=baseline,
        candidate=candidate,
        score=score,
        baseline_score=baseline_score,
        evidence=result.get("improvement") if is_best else None,
        doubts=tuple(_doubts(record, candidate, [base, own], is_best=is_best)),
        active=await workspace.agents.active_version(record.agent_name),
    )


async def promote(
    workspace: Workspace,
    promotion: Promotion,
    *,
    author: str = "",
    note: str = "",
    more: Mapping[str, Any] | None = None,
) -> AgentVersion:
    """The new active version; ConflictError when somebody promoted another in the meantime."""
    record, candidate = promotion.record, promotion.candidate
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
        expected_active=0 if promotion.active is None else promotion.active.version,
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
    return ["on held-out items it is worse than the baseline"] if is_shown_worse(result) else []


def _doubts_of_evidence(result: Mapping[str, Any], *, is_best: bool) -> list[str]:
    improvement = result.get("improvement")
    if not is_best:
        return ["only the best candidate is confirmed on held-out items, and this is another"]
    if improvement is None or not improvement["held_out"]:
        return ["it was not compared on held-out items, so its score may be luck"]
    if is_refuted(result):
        return ["on held-out items it is no better than the baseline"]
    if not is_proven(result):
        return ["on held-out items its gain may be chance"]
    return []
