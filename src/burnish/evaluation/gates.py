"""Whether one more run may be paid for."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
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
