"""Sums experiments up, from narrow columns and in bounded memory.

Whole numbers are counted by the database. Scores and costs are read in the order of their items and
added here, so that the same results give the same sum to the last bit, in whatever order they
were written: a database adds floats in the order in which it happens to find them.
"""

from __future__ import annotations

import math
from array import array
from typing import Any

from sqlalchemy import bindparam, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from burnish.domain import ErrorKind, ExperimentSummary, Spending, Usage
from burnish.storage.engine.codec import SafeText
from burnish.storage.experiments.answer_usage import REUSED, Footprints
from burnish.storage.experiments.tables import experiment_items

_BATCH = 2000
# A timeout too says more about what the agent runs on than about its configuration.
_OUTSIDE = (ErrorKind.INFRASTRUCTURE, ErrorKind.TIMEOUT)

_items = experiment_items.c
_in_experiment = _items.experiment_id == bindparam("experiment", type_=SafeText)
_counts = select(
    func.count().label("runs"),
    func.count().filter(_items.passed).label("passed"),
    func.count().filter(_items.cached).label("cached"),
    func.count(_items.error_kind).label("errors"),
    func.count()
    .filter(_items.error_kind.in_([kind.value for kind in _OUTSIDE]))
    .label("infrastructure_errors"),
    func.avg(_items.latency_ms).label("avg_latency_ms"),
    func.avg(_items.ttft_ms).label("avg_ttft_ms"),
).where(_in_experiment)
_amounts = (
    select(_items.score, _items.spending, _items.error_kind)
    .where(_in_experiment)
    .order_by(_items.item_id, _items.repeat)
)
_scores = (
    select(_items.item_id, _items.score)
    .where(_in_experiment)
    .order_by(_items.item_id, _items.repeat)
)


async def summarise(connection: AsyncConnection, experiment_id: str) -> ExperimentSummary:
    """What the results of one experiment amount to."""
    bound = {"experiment": experiment_id}
    counts = (await connection.execute(_counts, bound)).one()
    scores, totals, footprints = array("d"), Totals(), Footprints()
    async with connection.stream(_amounts, bound) as amounts:
        async for batch in amounts.partitions(_BATCH):
            for score, spending, error_kind in batch:
                scores.append(score)
                totals.add(spending)
                if error_kind is None:
                    footprints.add(spending)
    runs = counts.runs
    return ExperimentSummary(
        runs=runs,
        passed=counts.passed,
        failed=runs - counts.passed,
        errors=counts.errors,
        infrastructure_errors=counts.infrastructure_errors,
        score=math.fsum(scores) / runs if runs else None,
        pass_rate=counts.passed / runs if runs else None,
        spending=totals.spending(),
        avg_latency_ms=counts.avg_latency_ms,
        avg_ttft_ms=counts.avg_ttft_ms,
        cached=counts.cached,
        avg_tokens=footprints.mean_tokens,
        avg_cost_usd=footprints.mean_cost,
    )


async def mean_scores(connection: AsyncConnection, experiment_id: str) -> dict[str, float]:
    """The mean over repeats by item id."""
    by_item: dict[str, list[float]] = {}
    async with connection.stream(_scores, {"experiment": experiment_id}) as rows:
        async for batch in rows.partitions(_BATCH):
            for item_id, score in batch:
                by_item.setdefault(item_id, []).append(score)
    return {item_id: math.fsum(scores) / len(scores) for item_id, scores in by_item.items()}


class Totals:
    """Adds up what was spent, as stored, without making a value of each."""

    def __init__(self) -> None:
        self._counts: dict[str, list[int]] = {}
        self._costs: dict[str, array[float]] = {}
        self._unpriced: set[str] = set()

    def add(self, spending: dict[str, dict[str, Any]], times: int = 1) -> None:
        """Count an amount so many times."""
        for purpose, usage in spending.items():
            if purpose.startswith(REUSED):
                continue
            counts = self._counts.setdefault(purpose, [0, 0, 0, 0])
            counts[0] += usage["calls"] * times
            counts[1] += usage["input_tokens"] * times
            counts[2] += usage["output_tokens"] * times
            counts[3] += usage["cached_tokens"] * times
            cost = usage["cost_usd"]
            if cost is None:
                self._unpriced.add(purpose)
            else:
                self._costs.setdefault(purpose, array("d")).extend([cost] * times)

    def spending(self) -> Spending:
        """All of it, to the last bit the same in whatever order it was added."""
        return Spending(
            {
                purpose: Usage(
                    calls=counts[0],
                    input_tokens=counts[1],
                    output_tokens=counts[2],
                    cached_tokens=counts[3],
                    cost_usd=self._cost(purpose),
                )
                for purpose, counts in self._counts.items()
            }
        )

    def _cost(self, purpose: str) -> float | None:
        return None if purpose in self._unpriced else math.fsum(self._costs.get(purpose, ()))
