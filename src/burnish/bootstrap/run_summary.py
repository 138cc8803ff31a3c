"""How one optimization stands, read from the repository alone: what a watcher loads first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from burnish.bootstrap.objectives import ranked
from burnish.bootstrap.workspace import Workspace
from burnish.domain import (
    Candidate,
    OptimizationRecord,
    OptimizationStatus,
    Spending,
    TrialResult,
    UsageError,
)
from burnish.domain.read_models import RunCounts
from burnish.optimization import ownership
from burnish.optimization.front import points_of
from burnish.optimization.objective_document import front_json
from burnish.optimization.plan import candidate_id


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """One optimization with its counts, its spending and its two candidates that matter.

    `position` is the sequence number of the last event that all of this includes.
    """

    record: OptimizationRecord
    counts: RunCounts
    position: int
    owned: bool
    baseline: tuple[Candidate, TrialResult] | None = None
    best: tuple[Candidate, TrialResult] | None = None
    usage: Mapping[str, Any] = field(default_factory=dict)


async def read_summary(workspace: Workspace, optimization_id: str) -> RunSummary:
    """Everything that the summary of a page shows."""
    # The position first: what is read after it may know more, and never less.
    positions = await workspace.feed.positions([optimization_id])
    record = await workspace.optimizations.get_optimization(optimization_id)
    return RunSummary(
        record=record,
        counts=await workspace.pages.counts(optimization_id),
        position=positions.get(optimization_id, 0),
        owned=is_owned(record),
        baseline=await _trial(workspace, record, candidate_id(record.id, 0)),
        best=await _trial(workspace, record, record.best_candidate_id),
        usage=await _usage(workspace, record),
    )


async def read_front(workspace: Workspace, optimization_id: str) -> list[dict[str, Any]]:
    """The candidates that no other beats in score and in what counts besides."""
    record = await workspace.optimizations.get_optimization(optimization_id)
    candidates: Sequence[Candidate] = await workspace.optimizations.list_candidates(optimization_id)
    trials = await workspace.optimizations.list_trials(optimization_id)
    points = points_of(trials, {one.id: one for one in candidates})
    return front_json(ranked(record, points), points)


def is_owned(record: OptimizationRecord) -> bool:
    """Whether somebody works on it, as far as that can be known."""
    owner = record.lease_owner
    return not record.status.final and owner is not None and not ownership.is_dead(owner)


async def _usage(workspace: Workspace, record: OptimizationRecord) -> Mapping[str, Any]:
    """By purpose, the optimizer's own calls included; a finished run has it in its result."""
    if record.result is not None and record.status is not OptimizationStatus.RUNNING:
        usage: Mapping[str, Any] = record.result["usage"]
        return usage
    spent = await workspace.experiments.spending_of(record.id)
    own = Spending.of((record.checkpoint or {}).get("own_spending") or {})
    return (spent + own).to_json()


async def _trial(
    workspace: Workspace, record: OptimizationRecord, which: str | None
) -> tuple[Candidate, TrialResult] | None:
    if which is None:
        return None
    try:
        return await workspace.pages.trial(record.id, which)
    except UsageError:
        return None
