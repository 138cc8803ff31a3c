"""Summaries of experiments: scores, what was spent and what an answer takes, in bounded memory.

Whole numbers are counted by the database. Scores and costs are read in the order of their items and
added here, so that the same results give the same sum to the last bit, in whatever order they
were written: a database adds floats in the order in which it happens to find them.

An amount is stored by purpose. What a cache answered has its purposes marked: it was paid for
before, so it counts in what an answer takes and not in what was spent.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from typing import Any

from sqlalchemy import bindparam, func, select

from burnish.domain import ErrorKind, ExperimentSummary, ItemResult, Purpose, Round, Spending, Usage
from burnish.storage.engine.codec import SafeText
from burnish.storage.engine.connections import AsyncConnection
from burnish.storage.experiments.tables import experiment_items, experiments

Amounts = Mapping[str, Mapping[str, Any]]

REUSED = "reused "
# Asking for, judging and refining an answer is not the agent's work.
_OTHERS = (Purpose.USER.value, Purpose.JUDGE.value, Purpose.REFINE.value)

_BATCH = 2000
# A timeout too says more about what the agent runs on than about its configuration.
_OUTSIDE = tuple(kind.value for kind in ErrorKind if kind.outside)
_UNSCORED = tuple(kind.value for kind in ErrorKind if not kind.scored)

_items = experiment_items.c
# An outage is no result, nor is what nobody was to judge.
ANSWERED = _items.error_kind.is_(None) | _items.error_kind.not_in(_UNSCORED)
_in_experiment = _items.experiment_id == bindparam("experiment", type_=SafeText)
_counts = select(
    func.count().label("runs"),
    func.count().filter(_items.passed).label("passed"),
    func.count().filter(_items.cached).label("cached"),
    func.count(_items.error_kind).label("errors"),
    func.count().filter(_items.error_kind.in_(_OUTSIDE)).label("infrastructure_errors"),
    func.count().filter(_items.error_kind == ErrorKind.SKIPPED.value).label("skipped"),
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
    .where(_in_experiment, ANSWERED)
    .order_by(_items.item_id, _items.repeat)
)

_LARGE_BATCH = 5000

_of_optimization = experiments.c.optimization_id == bindparam("optimization", type_=SafeText)
_joined = experiments.join(experiment_items, _items.experiment_id == experiments.c.id)
# From two indices alone.
_evaluated = (
    select(experiments.c.configuration_hash, _items.item_id, _items.repeat)
    .select_from(_joined)
    .where(_of_optimization)
)
# Many items cost the same, so that each amount is decoded once. In a fixed order, see `summaries`.
_amounts_of_optimization = (
    select(_items.spending, func.count())
    .select_from(_joined)
    .where(_of_optimization)
    .group_by(_items.spending)
    .order_by(_items.spending)
)


def stored_amounts(result: ItemResult | Round) -> dict[str, dict[str, Any]]:
    """What a result cost and what it reused, by purpose."""
    amounts = {name: usage.to_json() for name, usage in result.spending.by_purpose.items()}
    for name, usage in result.reused.by_purpose.items():
        amounts[f"{REUSED}{name}"] = usage.to_json()
    return amounts


def read_amounts(stored: Amounts) -> tuple[Spending, Spending]:
    """What was spent, and what was reused."""
    spent: dict[str, Usage] = {}
    reused: dict[str, Usage] = {}
    for name, usage in stored.items():
        if name.startswith(REUSED):
            reused[name.removeprefix(REUSED)] = Usage.of(usage)
        else:
            spent[name] = Usage.of(usage)
    return Spending(spent), Spending(reused)


class AnswerUsage:
    """Adds up what answers take, as stored, without making a value of each."""

    def __init__(self) -> None:
        self._runs = 0
        self._tokens = 0
        self._costs = array("d")
        self._reported = False
        self._priced = True

    def add(self, stored: Amounts) -> None:
        """Count the answer of one run."""
        self._runs += 1
        for name, usage in stored.items():
            if name in _OTHERS:
                continue
            self._reported = True
            self._tokens += usage["input_tokens"] + usage["output_tokens"]
            if usage["cost_usd"] is None:
                self._priced = False
            else:
                self._costs.append(usage["cost_usd"])

    @property
    def mean_tokens(self) -> float | None:
        """None where no run reports any usage."""
        return self._tokens / self._runs if self._reported else None

    @property
    def mean_cost(self) -> float | None:
        """None where no run reports any usage, or some call has no known price."""
        known = self._reported and self._priced
        return math.fsum(self._costs) / self._runs if known else None


async def summarise(connection: AsyncConnection, experiment_id: str) -> ExperimentSummary:
    """What the results of one experiment amount to."""
    bound = {"experiment": experiment_id}
    counts = (await connection.execute(_counts, bound)).one()
    scores, totals, answers = array("d"), Totals(), AnswerUsage()
    async with connection.stream(_amounts, bound) as amounts:
        async for batch in amounts.partitions(_BATCH):
            for score, spending, error_kind in batch:
                if error_kind not in _UNSCORED:
                    scores.append(score)
                totals.add(spending)
                if error_kind is None:
                    answers.add(spending)
    runs, judged = counts.runs, counts.runs - counts.skipped
    return ExperimentSummary(
        runs=runs,
        passed=counts.passed,
        failed=judged - counts.passed,
        errors=counts.errors - counts.skipped,
        infrastructure_errors=counts.infrastructure_errors,
        score=math.fsum(scores) / len(scores) if scores else None,
        pass_rate=counts.passed / judged if judged else None,
        spending=totals.spending(),
        avg_latency_ms=counts.avg_latency_ms,
        avg_ttft_ms=counts.avg_ttft_ms,
        cached=counts.cached,
        avg_tokens=answers.mean_tokens,
        avg_cost_usd=answers.mean_cost,
        skipped=counts.skipped,
    )


async def mean_scores(connection: AsyncConnection, experiment_id: str) -> dict[str, float]:
    """The mean over repeats by item id; items that no run answered for outside reasons lack one."""
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


async def evaluated(connection: AsyncConnection, optimization_id: str) -> set[tuple[str, str, int]]:
    """Every (configuration hash, item id, repeat) that has a result."""
    found: set[tuple[str, str, int]] = set()
    async with connection.stream(_evaluated, {"optimization": optimization_id}) as rows:
        async for batch in rows.partitions(_LARGE_BATCH):
            found.update((digest, item_id, repeat) for digest, item_id, repeat in batch)
    return found


async def spending(connection: AsyncConnection, optimization_id: str) -> Spending:
    """What all results cost."""
    totals = Totals()
    async with connection.stream(
        _amounts_of_optimization, {"optimization": optimization_id}
    ) as rows:
        async for batch in rows.partitions(_LARGE_BATCH):
            for amount, times in batch:
                totals.add(amount, times)
    return totals.spending()
