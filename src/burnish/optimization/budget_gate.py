"""Budget gate of an optimization: counts what is spent, stops at a limit, opens counted models."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from burnish.domain import (
    Budget,
    BudgetReached,
    Clock,
    Item,
    ItemResult,
    Model,
    ModelRequest,
    ModelResponse,
    PaidAnswerError,
    Payer,
    Purpose,
    Spending,
    Usage,
    paying_for,
)
from burnish.evaluation.gates import InFlight


class BudgetGate:
    """Admits paid runs while the budget lasts. One run is one evaluation; cached ones are free.

    By limit, `reserved` is kept back for the held-out confirmation, and `expected` is what one run
    likely takes: what is under way counts with it, since its cost is not known yet.
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
        # Whose name those calls bear until a checkpoint counts them.
        self.payer: Payer | None = None
        self.reserved: Mapping[str, float] = {}
        self.expected: Mapping[str, float] = {}
        # The limit for which a run or a call was not let start: less than one of them is left.
        self.refused: str | None = None
        self._running = 0
        self._asking = 0

    def admit(self) -> None:
        """Count one evaluation, or raise when there is none left."""
        self._require_room()
        self.evaluations += 1

    @contextmanager
    def running(self) -> Iterator[int]:
        """Around a run that was admitted and will be recorded next: how many are under way now."""
        self._running += 1
        try:
            yield self._running
        finally:
            self._running -= 1

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Around a call of the optimizer's own; raises when there is no room for one."""
        self._require_room()
        self._asking += 1
        try:
            yield
        finally:
            self._asking -= 1

    @property
    def is_asking(self) -> bool:
        """Whether a call of the optimizer's own is under way."""
        return self._asking > 0

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

    def counted_own(self, optimization_id: str) -> dict[str, Any]:
        """The optimizer's own spending for a checkpoint, which later calls are not counted by."""
        self.payer = Payer(f"{optimization_id}/{self.own.total.calls}")
        by_purpose: dict[str, Any] = self.own.to_json()["by_purpose"]
        return by_purpose

    def reached(self, *, trials: int = 0) -> str | None:
        """The first limit that is reached by what was spent, or None."""
        return self._exhausted(self.reserved, trials=trials)

    def evaluations_left(self) -> int | None:
        """How many more evaluations the search may start, as far as is known; None for any number.

        Where calls, tokens or dollars are limited, it is an estimate from what one likely takes.
        """
        usage = Budget.amounts(self.spending.total)
        spent = {"max_evaluations": self.evaluations, **usage}
        each = {"max_evaluations": 1.0, **self.expected}
        limits = self._budget.to_json()
        left = [
            (limits[name] - spent[name] - self.reserved.get(name, 0.0)) / amount
            for name, amount in each.items()
            if name in limits and amount
        ]
        return max(math.floor(min(left)), 0) if left else None

    def left(self) -> dict[str, float]:
        """What is left of each limit that is set but trials, also where it is kept back."""
        spent = {
            "max_evaluations": float(self.evaluations),
            **Budget.amounts(self.spending.total),
            "max_seconds": self.elapsed_seconds,
        }
        limits = self._budget.to_json()
        return {name: limits[name] - amount for name, amount in spent.items() if name in limits}

    @property
    def foresees(self) -> bool:
        """Whether it knows what one run likely takes of all that is limited."""
        limits = self._budget.to_json()
        return all(name in self.expected for name in Budget.amounts(Usage()) if name in limits)

    def seconds_left(self) -> float | None:
        """Until the time of the search is up; None without a limit."""
        if self._budget.max_seconds is None:
            return None
        left = self._budget.max_seconds - self.elapsed_seconds
        return max(left - self.reserved.get("max_seconds", 0.0), 0.0)

    @property
    def elapsed_seconds(self) -> float:
        """Seconds over all attempts of the run."""
        return self._clock.monotonic() - self._started

    def _require_room(self) -> None:
        under_way = {name: self._running * amount for name, amount in self.expected.items()}
        under_way["max_calls"] = under_way.get("max_calls", 0.0) + self._asking
        names = {*self.reserved, *under_way}
        limit = self._exhausted(
            {name: self.reserved.get(name, 0.0) + under_way.get(name, 0.0) for name in names}
        )
        if limit is not None:
            self.refused = limit
            raise BudgetReached(limit)

    def _exhausted(self, besides: Mapping[str, float], *, trials: int = 0) -> str | None:
        return self._budget.exhausted(
            self.spending.total,
            trials=trials,
            evaluations=self.evaluations,
            seconds=self.elapsed_seconds,
            besides=besides,
        )


Seen = set[tuple[str, str, int]]


class EvaluationGate:
    """The budget as one experiment sees it.

    What this optimization has evaluated before is free. What only an earlier optimization's cache can
    answer counts as an evaluation, though nothing is paid: so the same seed and budget run the same
    search, whether the cache is cold or warm.
    """

    def __init__(
        self,
        budget: BudgetGate,
        seen: Seen,
        configuration_hash: str,
        in_flight: InFlight | None = None,
    ) -> None:
        self._budget = budget
        self._seen = seen
        self._hash = configuration_hash
        self._in_flight = in_flight or InFlight()

    def admit(self, item: Item, repeat: int) -> None:
        """Count a run that is new to this optimization."""
        key = (self._hash, item.id, repeat)
        if key not in self._seen:
            self._budget.admit()
            self._seen.add(key)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Around a run."""
        with self._budget.running() as now:
            self._in_flight.note(now)
            yield

    def record(self, result: ItemResult) -> None:
        """Add what it cost."""
        self._budget.record(result)

    def pay(self, spending: Spending) -> bool:
        """Add a part of what a run costs; no more once a limit is reached."""
        self._budget.spend(spending)
        return self._budget.reached() is None


ModelOpener = Callable[[Any], Model]


class OwnModels:
    """Opens models whose calls count against the budget of a run."""

    def __init__(self, open_model: ModelOpener, gate: BudgetGate) -> None:
        self._open = open_model
        self._gate = gate

    def __call__(self, source: Any) -> Model:
        """A model of a name, of a function from text to text, or as it is."""
        return CountedModel(self._open(source), self._gate)


class CountedModel:
    """Asks only while the budget lasts, and adds each answer's cost to it."""

    def __init__(self, model: Model, gate: BudgetGate) -> None:
        self.name = model.name
        self.fingerprint = model.fingerprint
        self._model = model
        self._gate = gate

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """The model's answer. Raises BudgetReached instead of starting a call too many."""
        with self._gate.asking(), paying_for(self._gate.payer):
            try:
                response = await self._model.complete(request)
            except PaidAnswerError as error:
                self._gate.spend_own(Spending.on(Purpose.PROPOSE, error.usage))
                raise
        self._gate.spend_own(Spending.on(Purpose.PROPOSE, response.usage))
        return response

    async def close(self) -> None:
        """Nothing: whoever opened the model closes it."""
