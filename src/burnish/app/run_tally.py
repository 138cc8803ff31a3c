"""Run tally: items, calls, tokens and dollars of the runs of this process, for metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from burnish.domain import ItemResult, Spending, Usage
from burnish.optimization.budget_gate import BudgetGate


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Since the process began."""

    items: int
    errors: int
    by_purpose: Mapping[str, Usage]


class RunTally:
    """Adds up. Optimizers' own calls are counted by their runs' gates, from where they began."""

    def __init__(self) -> None:
        self.items = 0
        self.errors = 0
        self._spending = Spending()
        self._gates: dict[int, tuple[BudgetGate, Spending]] = {}

    def add(self, results: Sequence[ItemResult]) -> None:
        """Count items that were run."""
        self.items += sum(1 for one in results if not one.cached)
        self.errors += sum(1 for one in results if one.error is not None)
        self._spending = Spending.sum((self._spending, *(one.spending for one in results)))

    def watch(self, gate: BudgetGate, before: Mapping[str, Any]) -> None:
        """Count what a run's optimizer asks itself; `before` is what earlier sittings asked."""
        self._gates[id(gate)] = (gate, Spending.of(before))

    def release(self, gate: BudgetGate) -> None:
        """The run is over: keep its numbers, and let it go."""
        watched = self._gates.pop(id(gate), None)
        if watched is not None:
            self._spending = self._spending + _asked(*watched)

    def totals(self) -> Totals:
        """Everything so far."""
        asked = [_asked(gate, before) for gate, before in self._gates.values()]
        spending = Spending.sum((self._spending, *asked))
        return Totals(items=self.items, errors=self.errors, by_purpose=spending.by_purpose)


def _asked(gate: BudgetGate, before: Spending) -> Spending:
    """What the optimizer asked in this attempt."""
    return Spending(
        {
            # A gate that has not read its earlier spending yet shows less than that.
            purpose: _less(usage, before.by_purpose.get(purpose, Usage()))
            for purpose, usage in gate.own.by_purpose.items()
        }
    )


def _less(usage: Usage, before: Usage) -> Usage:
    cost = None
    if usage.cost_usd is not None and before.cost_usd is not None:
        cost = max(usage.cost_usd - before.cost_usd, 0.0)
    return Usage(
        calls=max(usage.calls - before.calls, 0),
        input_tokens=max(usage.input_tokens - before.input_tokens, 0),
        output_tokens=max(usage.output_tokens - before.output_tokens, 0),
        cached_tokens=max(usage.cached_tokens - before.cached_tokens, 0),
        cost_usd=cost,
    )
