"""Counts each (configuration, item, repeat) of an optimization once."""

from __future__ import annotations

from contextlib import AbstractContextManager

from burnish.domain import Item, ItemResult, Spending
from burnish.optimization.budget_gate import BudgetGate

Seen = set[tuple[str, str, int]]


class EvaluationGate:
    """The budget as one experiment sees it.

    What this optimization has evaluated before is free. What only an earlier optimization's cache can
    answer counts as an evaluation, though nothing is paid: so the same seed and budget run the same
    search, whether the cache is cold or warm.
    """

    def __init__(self, budget: BudgetGate, seen: Seen, configuration_hash: str) -> None:
        self._budget = budget
        self._seen = seen
        self._hash = configuration_hash

    def admit(self, item: Item, repeat: int) -> None:
        """Count a run that is new to this optimization."""
        key = (self._hash, item.id, repeat)
        if key not in self._seen:
            self._budget.admit()
            self._seen.add(key)

    def running(self) -> AbstractContextManager[None]:
        """Around a run."""
        return self._budget.running()

    def record(self, result: ItemResult) -> None:
        """Add what it cost."""
        self._budget.record(result)

    def pay(self, spending: Spending) -> bool:
        """Add a part of what a run costs; no more once a limit is reached."""
        self._budget.spend(spending)
        return self._budget.reached() is None
