"""Curves as the numbers that are reported."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from burnish.benchmarks.curves import Curve

GOAL = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One optimizer in one world with one budget, over all seeds.

    Shares are of the world's maximum. `calls_to_goal` counts a seed that never got to 90% with the
    whole budget; `never` says that the median itself is such a one.
    """

    world: str
    budget: int
    optimizer: str
    seeds: int
    start: float
    share: float
    lowest: float
    highest: float
    reached: float
    calls_to_goal: float
    never: bool
    calls: float
    reflections: float
    seconds: float
    best_tried: float
    """The best that was tried at all, chosen or not, as a share of the maximum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rivalry:
    """An optimizer against a reference, in one world with one budget."""

    world: str
    budget: int
    optimizer: str
    reference: str
    calls_ratio: float
    """Its median calls to 90% over the reference's; a bound where one of the two never got there."""
    bounded: bool
    share_difference: float


def standings(curves: Iterable[Curve]) -> list[Standing]:
    """One row for each world, budget and optimizer, in the order of the curves."""
    groups: dict[tuple[str, int, str], list[Curve]] = {}
    for curve in curves:
        groups.setdefault((curve.world, curve.budget, curve.optimizer), []).append(curve)
    return [_standing(group) for group in groups.values()]


def rivalries(rows: Sequence[Standing], optimizer: str, reference: str) -> list[Rivalry]:
    """How one optimizer stands to another wherever both ran."""
    by_place = {(row.world, row.budget, row.optimizer): row for row in rows}
    found = []
    for (world, budget, name), row in by_place.items():
        other = by_place.get((world, budget, reference))
        if name == optimizer and other is not None:
            found.append(
                Rivalry(
                    world=world,
                    budget=budget,
                    optimizer=optimizer,
                    reference=reference,
                    calls_ratio=row.calls_to_goal / other.calls_to_goal,
                    bounded=row.never or other.never,
                    share_difference=row.share - other.share,
                )
            )
    return found


def document(curves: Sequence[Curve], rows: Sequence[Standing]) -> dict[str, Any]:
    """Both as plain objects."""
    return {
        "standings": [asdict(row) for row in rows],
        "curves": [curve.to_json() for curve in curves],
    }


def _standing(curves: Sequence[Curve]) -> Standing:
    first = curves[0]
    shares = [curve.share for curve in curves]
    reached = [curve.calls_to(GOAL) for curve in curves]
    waits = sorted(
        curve.budget if one is None else one for curve, one in zip(curves, reached, strict=True)
    )
    missed = sum(one is None for one in reached)
    return Standing(
        world=first.world,
        budget=first.budget,
        optimizer=first.optimizer,
        seeds=len(curves),
        start=median(curve.start / curve.maximum for curve in curves),
        share=median(shares),
        lowest=min(shares),
        highest=max(shares),
        reached=1 - missed / len(curves),
        calls_to_goal=median(waits),
        never=2 * missed >= len(curves),
        calls=median(curve.calls for curve in curves),
        reflections=median(curve.reflections for curve in curves),
        seconds=median(curve.seconds for curve in curves),
        best_tried=median(curve.best_tried / curve.maximum for curve in curves),
    )
