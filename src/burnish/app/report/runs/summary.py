"""Summary of an optimization, read from the repository alone: status, budget, evidence."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from burnish.app.evaluate.result import Intervals, repeats_of, score_intervals
from burnish.app.optimize.run_spec import ranked
from burnish.app.report.html.material import prompt_tokens
from burnish.app.report.runs.lines import RunLine, line_of, read_usage
from burnish.app.report.runs.waiting import read_waiting
from burnish.app.wiring import Workspace
from burnish.domain import (
    Candidate,
    EventType,
    ExperimentType,
    OptimizationRecord,
    TrialResult,
    UsageError,
)
from burnish.domain.optimizations.pages import RunCounts, RunSpan
from burnish.domain.registry import OptimizerRun
from burnish.optimization.objective import points_of
from burnish.optimization.outcome import front_json

AMOUNTS = ("trials", "evaluations", "calls", "tokens", "cost_usd", "seconds")
Amounts = Mapping[str, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetUse:
    """Amounts by name. A limit of None is none; a cost of None has no known price."""

    limits: Amounts
    used: Amounts

    @property
    def left(self) -> Amounts:
        """None where there is no limit; an unknown price counts nothing, as it does for the run."""
        return {
            name: None if limit is None else max(limit - (self.used[name] or 0), 0)
            for name, limit in self.limits.items()
        }


async def read_budget(
    workspace: Workspace, record: OptimizationRecord, usage: Mapping[str, Any], *, trials: int
) -> BudgetUse:
    """A run that was started from Python keeps no limits, so none are known."""
    settings = record.spec.get("settings") or {}
    budget = settings.get("budget") or {}
    return BudgetUse(
        limits={name: budget.get(f"max_{name}") for name in AMOUNTS},
        used={
            "trials": trials,
            "evaluations": await _evaluations(workspace, record),
            "calls": usage["calls"],
            "tokens": usage["input_tokens"] + usage["output_tokens"],
            "cost_usd": usage["cost_usd"],
            "seconds": (record.checkpoint or {}).get("elapsed_seconds") or 0.0,
        },
    )


async def _evaluations(workspace: Workspace, record: OptimizationRecord) -> int:
    """As the result has it; before there is one, as was told last."""
    if record.result is not None:
        return int(record.result.get("evaluations") or 0)
    told = await workspace.insights.events(
        record.id, types=[EventType.PROGRESS_CHANGED], newest=True, limit=1
    )
    return int(told[0].payload.get("evaluations") or 0) if told else 0


Scored = tuple[Candidate, TrialResult]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """One optimization with its counts, its spending and its two candidates that matter.

    `position` is the sequence number of the last event that all of this includes. `intervals` are by
    experiment, `prompt_tokens` by candidate.
    """

    record: OptimizationRecord
    line: RunLine
    counts: RunCounts
    position: int
    budget: BudgetUse
    baseline: Scored | None = None
    best: Scored | None = None
    # What started it, where that was an optimizer that is kept with the agent.
    kept_optimizer: OptimizerRun | None = None
    intervals: Intervals = field(default_factory=dict)
    prompt_tokens: Mapping[str, int] = field(default_factory=dict)
    # Batches of model requests that their vendors are not through with.
    waiting: Sequence[Mapping[str, Any]] = ()


async def read_summary(workspace: Workspace, optimization_id: str) -> RunSummary:
    """Everything that the summary of a page shows."""
    # The position first: what is read after it may know more, and never less.
    positions = await workspace.feed.positions([optimization_id])
    record = await workspace.optimizations.get_optimization(optimization_id)
    spans = await workspace.insights.spans([optimization_id])
    usage = await read_usage(workspace, record)
    baseline = await _trial(workspace, record, await _baseline_id(workspace, record))
    best = await _trial(workspace, record, record.best_candidate_id)
    shown = {one[0].id: one for one in (baseline, best) if one is not None}
    counts = await workspace.pages.counts(optimization_id)
    return RunSummary(
        record=record,
        line=line_of(record, spans.get(optimization_id, RunSpan()), usage),
        counts=counts,
        position=positions.get(optimization_id, 0),
        budget=await read_budget(workspace, record, usage, trials=sum(counts.trials.values())),
        baseline=baseline,
        best=best,
        kept_optimizer=await _kept_optimizer(workspace, optimization_id),
        intervals=await _intervals(workspace, record, shown),
        waiting=() if record.status.final else await read_waiting(workspace, optimization_id),
        prompt_tokens=await asyncio.to_thread(prompt_tokens, [one for one, _ in shown.values()]),
    )


async def _kept_optimizer(workspace: Workspace, run_id: str) -> OptimizerRun | None:
    try:
        return (await workspace.optimizer_runs.line(run_id)).run
    except UsageError as error:
        if error.code != "not_found":
            raise
        return None


async def read_front(workspace: Workspace, optimization_id: str) -> list[dict[str, Any]]:
    """The candidates that no other beats in score and in what counts besides."""
    record = await workspace.optimizations.get_optimization(optimization_id)
    candidates: Sequence[Candidate] = await workspace.optimizations.list_candidates(optimization_id)
    trials = await workspace.optimizations.list_trials(optimization_id)
    points = points_of(trials, {one.id: one for one in candidates})
    return front_json(ranked(record, points), points)


async def _intervals(
    workspace: Workspace, record: OptimizationRecord, shown: Iterable[str]
) -> Intervals:
    points = [
        point
        for one in shown
        for point in await workspace.insights.points(record.id, candidate_id=one)
        if point.type is ExperimentType.TRIAL
    ]
    return await score_intervals(workspace, points, repeats=repeats_of(record))


async def _baseline_id(workspace: Workspace, record: OptimizationRecord) -> str | None:
    # A client, and an earlier version, may have named its candidates otherwise.
    first = (await workspace.pages.trials(record.id, limit=1)).items
    return first[0].candidate_id if first and first[0].number == 0 else None


async def _trial(
    workspace: Workspace, record: OptimizationRecord, which: str | None
) -> tuple[Candidate, TrialResult] | None:
    if which is None:
        return None
    try:
        return await workspace.pages.trial(record.id, which)
    except UsageError:
        return None
