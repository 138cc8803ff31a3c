"""Counts what an optimization spends, and stops it at the first limit that is reached."""

from __future__ import annotations

from burnish.domain import Budget, BurnishError, Clock, ItemResult, Spending


class BudgetReached(BurnishError):  # noqa: N818 - an outcome, not a failure
    """A limit of the budget was reached; what is in flight still ends."""

    exit_code = 0
    default_code = "budget"

    def __init__(self, limit: str) -> None:
        super().__init__(
            what="the optimization stopped",
            why=f"the budget's {limit} is reached",
            fix=f"raise {limit} to go on",
        )
        self.limit = limit


class BudgetGate:
    """Admits paid runs while the budget lasts. One run is one evaluation; cached ones are free.

    `reserved` evaluations are kept back for the held-out confirmation.
    """

    def __init__(
        self,
        budget: Budget,
        clock: Clock,
        *,
        evaluations: int = 0,
        spending: Spending | None = None,
        elapsed_seconds: float = 0.0,
    ) -> None:
        self._budget = budget
        self._clock = clock
        self._started = clock.monotonic() - elapsed_seconds
        self.evaluations = evaluations
        self.spending = spending or Spending()
        # The part of it that the optimizer's own calls cost; no experiment keeps that.
        self.own = Spending()
        self.reserved = 0

    def admit(self) -> None:
        """Count one evaluation, or raise when there is none left."""
        limit = self.reached()
        if limit is not None:
            raise BudgetReached(limit)
        self.evaluations += 1

    def record(self, result: ItemResult) -> None:
        """Add what a run cost."""
        self.spend(result.spending)

    def spend(self, spending: Spending) -> None:
        """Add to what was spent."""
        if spending.by_purpose:
            self.spending = self.spending + spending

    def spend_own(self, spending: Spending) -> None:
        """Add what the optimizer's own calls cost."""
        self.own = self.own + spending
        self.spend(spending)

    def reached(self, *, trials: int = 0) -> str | None:
        """The first limit that is reached, or None."""
        return self._budget.exhausted(
            self.spending.total,
            trials=trials,
            evaluations=self.evaluations + self.reserved,
            seconds=self.elapsed_seconds,
        )

    def evaluations_left(self) -> int | None:
        """How many more evaluations may start; None without a limit."""
        if self._budget.max_evaluations is None:
            return None
        return max(self._budget.max_evaluations - self.evaluations - self.reserved, 0)

    def seconds_left(self) -> float | None:
        """Until the time is up; None without a limit."""
        if self._budget.max_seconds is None:
            return None
        return max(self._budget.max_seconds - self.elapsed_seconds, 0.0)

    @property
    def elapsed_seconds(self) -> float:
        """Seconds over all sittings of the run."""
        return self._clock.monotonic() - self._started
