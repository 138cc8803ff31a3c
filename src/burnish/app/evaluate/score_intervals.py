"""Intervals of the scores of many experiments, from as few queries as that takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from burnish.app.wiring import Workspace
from burnish.domain import OptimizationRecord
from burnish.domain.run_insights import RunPoint
from burnish.evaluation.statistics import is_rate, mean_interval, rate_interval

Intervals = Mapping[str, tuple[float, float]]


async def score_intervals(
    workspace: Workspace, points: Sequence[RunPoint], *, repeats: int
) -> Intervals:
    """The 95 % interval of each score by experiment; none for what has no score yet.

    Scores of 0 and 1 need no look at the items. Others do, and so do repeats: five runs of one item
    tell less than runs of five.
    """
    found: dict[str, tuple[float, float]] = {}
    graded: list[str] = []
    for one in points:
        if one.score is None or not one.total_items:
            continue
        if repeats == 1 and is_rate(one.score, one.passed_items, one.total_items):
            found[one.experiment_id] = rate_interval(one.passed_items, one.total_items)
        else:
            graded.append(one.experiment_id)
    if graded:
        for key, moments in (await workspace.insights.score_moments(graded)).items():
            interval = mean_interval(moments.items, moments.mean, moments.mean_square)
            if interval is not None:
                found[key] = interval
    return found


def repeats_of(record: OptimizationRecord) -> int:
    """How often each item is run; 2 stands for an unknown number of times."""
    suite: Mapping[str, Any] = (record.spec.get("settings") or {}).get("suite") or {}
    repeats = suite.get("repeats")
    return repeats if isinstance(repeats, int) else 2
