"""What an optimizer had found after how many calls, in the world's exact terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The expectation of what the optimizer held for the best, from this number of calls on."""

    calls: int
    expectation: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One run of one optimizer in one world.

    `calls` counts calls of the simulated task model, `reflections` those of the reflection model.
    What was found beyond the budget does not count. `best_tried` is the best expectation among all
    that was tried on any item, chosen in the end or not, `best_trial` among those that ran all
    validation items, where that is known.
    """

    world: str
    optimizer: str
    seed: int
    budget: int
    start: float
    maximum: float
    calls: int
    reflections: int
    seconds: float
    points: Sequence[Point]
    note: str = ""
    best_tried: float = 0.0
    best_trial: float | None = None

    @property
    def final(self) -> float:
        """The expectation of the result within the budget."""
        return self.at(self.budget)

    @property
    def share(self) -> float:
        """The result as a share of the world's maximum."""
        return self.final / self.maximum

    def at(self, calls: int) -> float:
        """The expectation after a number of calls; the baseline's before the first point."""
        reached = [point.expectation for point in self.points if point.calls <= calls]
        return reached[-1] if reached else self.start

    def calls_to(self, share: float) -> int | None:
        """Calls until a share of the maximum was reached first; None if it never was."""
        for point in self.points:
            if point.calls <= self.budget and point.expectation >= share * self.maximum:
                return point.calls
        return None

    def to_json(self) -> dict[str, Any]:
        """A plain object."""
        return asdict(self) | {"final": self.final, "share": self.share}

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Curve:
        """From a plain object."""
        fields = {key: one for key, one in value.items() if key not in ("final", "share")}
        return cls(**fields | {"points": [Point(**point) for point in value["points"]]})
