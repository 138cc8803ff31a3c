"""What the search leaves of the budget for the held-out confirmation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import fmean, pvariance

from burnish.domain import Budget, ErrorKind, ExperimentRepository, ItemResult
from burnish.optimization.budget_gate import BudgetGate
from burnish.optimization.trial_index import Book

# A confirmation that would take more of a limit than this gets only what the search leaves of it.
LARGEST_SHARE = 0.3
# Test items may take more than those that were measured: so many deviations of their sum more.
_DEVIATIONS = 2.0
# The winner may be a longer prompt than the best so far: so many times its tokens and dollars.
_GROWTH = {"max_tokens": 1.25, "max_cost_usd": 1.25}
_SPENT = ("max_calls", "max_tokens", "max_cost_usd")

# The mean and the variance of what one run takes, by the limit that it counts against.
Measured = Mapping[str, tuple[float, float]]


class ConfirmationReserve:
    """Keeps back what two candidates on all test items will take, so that the search leaves it.

    Evaluations are known from the start. Calls, tokens, dollars and time are estimated from the
    stored runs of the baseline and of the best so far, so a resumed run keeps back the same.
    """

    def __init__(
        self,
        budget: Budget,
        gate: BudgetGate,
        experiments: ExperimentRepository,
        *,
        runs: int,
        concurrency: int,
    ) -> None:
        self._limits = budget.to_json()
        self._measures = any(name in self._limits for name in (*_SPENT, "max_seconds"))
        self._gate = gate
        self._experiments = experiments
        self._runs = runs
        self._concurrency = min(concurrency, 2 * runs)
        self._measured: dict[str, Measured] = {}

    async def keep(self, book: Book) -> None:
        """Keep back what is known to be needed by now."""
        measured = await self._measure_both(book) if self._measures else []
        self._gate.expected = {
            name: max(one[name][0] for one in measured) for name in _SPENT if measured
        }
        needed = {"max_evaluations": 2.0 * self._runs, **self._estimate(measured)}
        self._gate.reserved = {
            name: amount
            for name, amount in needed.items()
            if name in self._limits and amount <= LARGEST_SHARE * self._limits[name]
        }

    def release(self) -> None:
        """Let the confirmation have it."""
        self._gate.reserved, self._gate.refused = {}, None

    async def _measure_both(self, book: Book) -> list[Measured]:
        """The baseline and the best so far, once they have a score."""
        baseline, best = book.baseline(), book.best()
        if baseline is None or best is None:
            return []
        return [await self._measure(one.experiment_id) for one in (baseline, best)]

    def _estimate(self, measured: list[Measured]) -> dict[str, float]:
        if not measured or not self._runs:
            return {}
        needed = {}
        for name in (*_SPENT, "max_seconds"):
            (baseline, baseline_variance), (best, best_variance) = (one[name] for one in measured)
            spread = math.sqrt(self._runs * (baseline_variance + best_variance))
            both = baseline + best * _GROWTH.get(name, 1.0)
            needed[name] = self._runs * both + _DEVIATIONS * spread
        needed["max_seconds"] /= self._concurrency
        return needed

    async def _measure(self, experiment_id: str) -> Measured:
        """Once an experiment: it has ended, so it stays the same."""
        if experiment_id not in self._measured:
            results = self._experiments.stream_results(experiment_id)
            runs = [_taken(one) async for one in results if _tells(one)]
            self._measured[experiment_id] = {
                name: (fmean(amounts), pvariance(amounts)) if amounts else (0.0, 0.0)
                for name in (*_SPENT, "max_seconds")
                for amounts in [[run[name] for run in runs]]
            }
        return self._measured[experiment_id]


def _tells(result: ItemResult) -> bool:
    return result.error is None or result.error.kind is not ErrorKind.INFRASTRUCTURE


def _taken(result: ItemResult) -> dict[str, float]:
    """What a run takes when it is paid for, whether it was this time or not."""
    usage = result.spending.total + result.reused.total
    return {**Budget.amounts(usage), "max_seconds": result.latency_ms / 1000}
