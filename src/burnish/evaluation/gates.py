"""Gates of experiments: what may start, what it cost, and how many runs are in flight."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Protocol

from burnish.domain import Item, ItemResult, Spending


class Gate(Protocol):
    """Decides before each run whether it may start, and hears what it cost."""

    def admit(self, item: Item, repeat: int) -> None:
        """Return to let the run start, raise to end the experiment; what runs already ends."""
        ...

    def running(self) -> AbstractContextManager[None]:
        """Around a run that was let start, until its cost is known."""
        ...

    def record(self, result: ItemResult) -> None:
        """Count what a run cost."""
        ...

    def pay(self, spending: Spending) -> bool:
        """Count a part of what a run costs, while it runs; whether it may cost more.

        What was counted in parts is not recorded again.
        """
        ...


@dataclass(slots=True)
class InFlight:
    """How many runs were under way when each run of an experiment began, itself among them."""

    most: int = 0
    runs: int = 0
    total: int = 0

    def note(self, now: int) -> None:
        """One more began, which made so many."""
        self.most, self.runs, self.total = max(self.most, now), self.runs + 1, self.total + now

    def to_json(self) -> dict[str, float]:
        """What is kept with the experiment; nothing where all came from a cache."""
        if not self.runs:
            return {}
        return {"most": self.most, "mean": round(self.total / self.runs, 1)}


class OpenGate:
    """No limit."""

    def admit(self, item: Item, repeat: int) -> None:
        """Always."""

    def running(self) -> AbstractContextManager[None]:
        """Nothing is counted."""
        return nullcontext()

    def record(self, result: ItemResult) -> None:
        """Nothing is counted."""

    def pay(self, spending: Spending) -> bool:
        """Always more."""
        return True


class CountingGate(OpenGate):
    """No limit, but what is under way is counted."""

    def __init__(self) -> None:
        self.in_flight = InFlight()
        self._running = 0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Around a run."""
        self._running += 1
        self.in_flight.note(self._running)
        try:
            yield
        finally:
            self._running -= 1
