"""Every experiment of a search as columns: what charts and tables of thousands are drawn from."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from burnish.app.evaluate.result import Intervals, repeats_of, score_intervals
from burnish.app.optimize.run_spec import AGENT_MODEL
from burnish.app.wiring import Workspace
from burnish.domain import EventType, ExperimentType, OptimizationRecord
from burnish.domain.optimizations.pages import RunPoint

_SHORT = 160
# Beyond so many changes the whole is no larger to send.
_MOST_CHANGES = 5_000
_LAST = "\uffff"


@dataclass(frozen=True, slots=True, kw_only=True)
class PointTable:
    """Points by column. `position` is the last event that they include."""

    record: OptimizationRecord
    position: int
    columns: Mapping[str, Sequence[Any]]

    @property
    def count(self) -> int:
        """How many rows there are."""
        return len(self.columns["number"])


async def read_points(
    workspace: Workspace, optimization_id: str, *, mini_batches: bool, since: int | None
) -> PointTable:
    """All points, or with `since` those that changed after that event."""
    # The position first: what is read after it may know more, and never less.
    positions = await workspace.feed.positions([optimization_id])
    record = await workspace.optimizations.get_optimization(optimization_id)
    wanted = None if since is None else await _changed(workspace, optimization_id, since)
    points = [] if wanted == set() else await workspace.insights.points(optimization_id)
    shown = [
        one
        for one in points
        if (mini_batches or one.type is ExperimentType.TRIAL)
        and (wanted is None or one.experiment_id in wanted)
    ]
    intervals = await score_intervals(workspace, shown, repeats=repeats_of(record))
    # Thousands of them take a while, in which others are to be served too.
    columns = await asyncio.to_thread(_columns, shown, points, intervals)
    if AGENT_MODEL in record.spec and shown:
        made = await workspace.optimizations.list_candidates(optimization_id)
        models = {one.id: one.configuration.model for one in made}
        columns["model"] = [models.get(one.candidate_id) for one in shown]
    return PointTable(record=record, position=positions.get(optimization_id, 0), columns=columns)


async def _changed(workspace: Workspace, optimization_id: str, since: int) -> set[str] | None:
    """The experiments of which something was told; None for too many to name."""
    told = await workspace.insights.events(
        optimization_id,
        types=[EventType.TRIAL_ADDED_OR_UPDATED],
        limit=_MOST_CHANGES,
        after=since,
    )
    if len(told) == _MOST_CHANGES:
        return None
    return {str(one.payload.get("experiment_id")) for one in told}


def running_totals(points: Sequence[RunPoint]) -> dict[str, tuple[int, float | None]]:
    """By experiment that ended: the item runs and dollars of the search up to then."""
    ended = [one for one in points if one.status.final]
    ended.sort(key=lambda one: (one.updated_at or _LAST, one.number))
    found: dict[str, tuple[int, float | None]] = {}
    evaluations, cost, priced = 0, 0.0, False
    for one in ended:
        evaluations += one.total_items
        if one.total_cost is not None:
            cost, priced = cost + one.total_cost, True
        found[one.experiment_id] = (evaluations, cost if priced else None)
    return found


def shortened(text: str | None, most: int = _SHORT) -> str | None:
    """The beginning of a text, on one line."""
    if text is None or (len(text) <= most and "\n" not in text):
        return text
    line = " ".join(text[: 2 * most].split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _columns(
    points: Sequence[RunPoint], every: Sequence[RunPoint], intervals: Intervals
) -> dict[str, list[Any]]:
    numbers = {one.candidate_id: one.number for one in every}
    totals = running_totals(every)
    nothing: tuple[None, None] = (None, None)
    between = [intervals.get(one.experiment_id, nothing) for one in points]
    so_far = [totals.get(one.experiment_id, nothing) for one in points]
    return {
        "candidate_id": [one.candidate_id for one in points],
        "number": [one.number for one in points],
        "step_index": [one.step_index for one in points],
        "parents": [
            [numbers[parent] for parent in one.parent_candidate_ids if parent in numbers]
            for one in points
        ],
        "kind": [kind_of(one) for one in points],
        "status": [one.status.value for one in points],
        "score": [one.score for one in points],
        "ci_low": [low for low, _ in between],
        "ci_high": [high for _, high in between],
        "items": [one.total_items for one in points],
        "passed": [one.passed_items for one in points],
        "pass_rate": [one.pass_rate for one in points],
        "evaluations": [evaluations for evaluations, _ in so_far],
        "cost_usd": [one.total_cost for one in points],
        "cost_so_far_usd": [cost for _, cost in so_far],
        "avg_tokens": [one.avg_tokens for one in points],
        "avg_latency_ms": [one.avg_latency_ms for one in points],
        "avg_cost_usd": [one.avg_cost_usd for one in points],
        "created_at": [one.created_at for one in points],
        "finished_at": [one.updated_at if one.status.final else None for one in points],
        "rationale": [shortened(one.rationale) for one in points],
        "error": [shortened(one.error) for one in points],
        "experiment_id": [one.experiment_id for one in points],
        "model": [None for _ in points],
    }


def kind_of(point: RunPoint) -> str:
    """What it is, in the words of a chart."""
    if point.type is ExperimentType.TRIAL:
        return "trial" if point.number else "baseline"
    return "mini-batch"
