"""Evaluations that wait for whoever runs them, and who does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedEvaluation:
    """One that was taken. `spec` is all that is needed to run it in any process."""

    experiment_id: str
    spec: Mapping[str, Any]
    attempts: int


class EvaluationQueue(Protocol):
    """Which experiments are to be run, each by one owner at a time, by the database's clock.

    One stays in the queue until it has ended, so whoever dies leaves it to the others.
    """

    async def add(self, experiment_id: str, spec: Mapping[str, Any]) -> None:
        """Let it be run from now on."""
        ...

    async def take(self, *, owner: str, seconds: float) -> QueuedEvaluation | None:
        """The oldest that nobody holds, held from now on; None when there is none."""
        ...

    async def keep(self, experiment_id: str, *, owner: str, seconds: float) -> bool:
        """Hold it longer; False when somebody else has taken it."""
        ...

    async def give_back(self, experiment_id: str, *, owner: str) -> None:
        """Let anybody have it at once, without counting the attempt."""
        ...

    async def remove(self, experiment_id: str) -> None:
        """It is not to be run any more."""
        ...

    async def waiting(self, experiment_id: str) -> bool:
        """Whether it is still to be run, or being run."""
        ...
