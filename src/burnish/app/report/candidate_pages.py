"""Candidate pages: one candidate with its origin, its experiments and what came of them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from burnish.app.evaluate.result import repeats_of, score_intervals
from burnish.app.report.html.markup import as_text
from burnish.app.wiring import Workspace
from burnish.domain import (
    Candidate,
    Configuration,
    ExperimentStatus,
    ExperimentSummary,
    ExperimentType,
    OptimizationRecord,
    UsageError,
)
from burnish.domain.optimizations.pages import HeldOutRun, LineageNode, RunPoint
from burnish.evaluation.statistics import mean_interval
from burnish.models import count_tokens

EXAMPLES = "@examples"
Role = Literal["trial", "mini-batch", "held_out"]
Origin = Literal["baseline", "edit", "merge", "fresh"]
_MOST_CHILDREN = 100
_MEANS = ("score", "avg_tokens", "avg_latency_ms", "avg_cost_usd")


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateRun:
    """One experiment of a candidate. Without a score it has none yet."""

    experiment_id: str
    role: Role
    status: ExperimentStatus
    score: float | None
    interval: tuple[float, float] | None
    items: int
    passed: int
    failed: int
    cost_usd: float | None
    avg_tokens: float | None
    avg_latency_ms: float | None
    avg_cost_usd: float | None
    error: str | None
    created_at: str | None
    finished_at: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidatePage:
    """A candidate among its kin. `versions` are those of the agent that it was promoted to."""

    record: OptimizationRecord
    candidate: Candidate
    parents: Sequence[LineageNode]
    children: Sequence[LineageNode]
    runs: Sequence[CandidateRun]
    section_tokens: Mapping[str, int]
    versions: Sequence[int] = field(default_factory=tuple)

    @property
    def origin(self) -> Origin:
        """How it came about."""
        if self.candidate.number == 0:
            return "baseline"
        parents = len(self.candidate.parent_candidate_ids)
        return "fresh" if not parents else "edit" if parents == 1 else "merge"

    @property
    def cost_usd(self) -> float | None:
        """What all of its experiments cost; None where no price is known."""
        known = [one.cost_usd for one in self.runs if one.cost_usd is not None]
        return sum(known) if known else None


async def read_candidate(
    workspace: Workspace, optimization_id: str, candidate_id: str
) -> CandidatePage:
    """Everything that a page of a candidate shows."""
    record = await workspace.optimizations.get_optimization(optimization_id)
    candidate = await workspace.insights.candidate(optimization_id, candidate_id)
    kin = await workspace.pages.lineage(optimization_id)
    by_id = {one.id: one for one in kin}
    children = [one for one in kin if candidate_id in one.parent_candidate_ids]
    return CandidatePage(
        record=record,
        candidate=candidate,
        parents=[by_id[one] for one in candidate.parent_candidate_ids if one in by_id],
        children=children[:_MOST_CHILDREN],
        runs=[
            *await _searched(workspace, record, candidate_id),
            *await _held_out(workspace, optimization_id, candidate_id),
        ],
        section_tokens=await asyncio.to_thread(section_tokens, candidate.configuration),
        versions=await _versions(workspace, record, candidate_id),
    )


def section_tokens(configuration: Configuration) -> dict[str, int]:
    """How long each section is, with nothing filled in; the examples together are one."""
    found = {path: count_tokens(text) for path, text in configuration.sections.items()}
    if configuration.examples:
        texts = (as_text(value) for one in configuration.examples for value in one.values())
        found[EXAMPLES] = sum(map(count_tokens, texts))
    return found


async def _searched(
    workspace: Workspace, record: OptimizationRecord, candidate_id: str
) -> list[CandidateRun]:
    points = await workspace.insights.points(record.id, candidate_id=candidate_id)
    intervals = await score_intervals(workspace, points, repeats=repeats_of(record))
    return [
        CandidateRun(
            **_shared(one, one),
            role="trial" if one.type is ExperimentType.TRIAL else "mini-batch",
            interval=intervals.get(one.experiment_id),
            items=one.total_items,
            passed=one.passed_items,
            failed=one.failed_items,
            cost_usd=one.total_cost,
            error=one.error,
        )
        for one in points
    ]


async def _held_out(
    workspace: Workspace, optimization_id: str, candidate_id: str
) -> list[CandidateRun]:
    runs = await workspace.insights.held_out(optimization_id)
    own = [one for one in runs if one.candidate_id == candidate_id]
    return [await _summed(workspace, one) for one in own]


async def _summed(workspace: Workspace, run: HeldOutRun) -> CandidateRun:
    summary = await workspace.experiments.summarise(run.experiment_id)
    moments = (await workspace.insights.score_moments([run.experiment_id])).get(run.experiment_id)
    return CandidateRun(
        **_shared(run, summary),
        role="held_out",
        interval=None
        if moments is None
        else mean_interval(moments.items, moments.mean, moments.mean_square),
        items=summary.runs,
        passed=summary.passed,
        failed=summary.failed,
        cost_usd=summary.cost_usd,
        error=None,
    )


def _shared(run: RunPoint | HeldOutRun, means: RunPoint | ExperimentSummary) -> dict[str, Any]:
    return {
        **{name: getattr(run, name) for name in ("experiment_id", "status", "created_at")},
        **{name: getattr(means, name) for name in _MEANS},
        "finished_at": run.updated_at if run.status.final else None,
    }


async def _versions(
    workspace: Workspace, record: OptimizationRecord, candidate_id: str
) -> list[int]:
    try:
        versions = await workspace.agents.list_versions(record.agent_name)
    except UsageError:
        return []
    wanted = (record.id, candidate_id)
    return [
        one.version
        for one in versions
        if (one.origin.get("optimization_id"), one.origin.get("candidate_id")) == wanted
    ]
