"""What each line does to the items that it is about, by all that ran: a fit in which luck averages out.

The score of a candidate on an item is taken for how easy the item is under the baseline, and an effect
of each line that is about it. All weights are independent and normal before anything is seen, so what
is to be believed follows in closed form, and possible worlds can be drawn from it (Thompson sampling).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum

from burnish.optimizers.shared.gradient import Triangle, back, cholesky, dot, forth, solve
from burnish.optimizers.shared.seeded_random import generator

# Deviations before anything is seen, and the variance of a single score, on a scale from 0 to 1.
_EASE = 0.3
_ABOUT_SOME = 0.5
_ABOUT_ALL = 0.05
_NOISE = 0.15


@dataclass(frozen=True, slots=True)
class Sight:
    """One score: of which item, the lines that are about it, and how much it says."""

    item: str
    lines: tuple[str, ...]
    score: float
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """How easy each item is and what each line does, on a scale from `low` to `high`."""

    ease: Mapping[str, float]
    effects: Mapping[str, float]
    low: float
    high: float

    @property
    def scale(self) -> float:
        """How wide it is."""
        return self.high - self.low

    def effect(self, line: str) -> float:
        """Of a line; none if nothing is known of it."""
        return self.effects.get(line, 0.0)

    def within(self, value: float) -> float:
        """No item gets better than best, however many lines are about it."""
        return min(max(value, self.low), self.high)


class LineEffects:
    """The fitted weights of items and lines.

    `ease` is the baseline's mean score; `general` are lines that may be about everything.
    """

    def __init__(self, sights: Sequence[Sight], *, ease: float, general: frozenset[str]) -> None:
        self._sights = sights
        self._ease = ease
        scores = [one.score for one in sights]
        self._low, self._high = min(scores, default=0.0), max(scores, default=1.0)
        self._scale = max(self._high - self._low, 1e-9)
        self._items = {item: Weighing() for item in dict.fromkeys(one.item for one in sights)}
        names = dict.fromkeys(line for one in sights for line in one.lines)
        self._lines = {line: place for place, line in enumerate(names)}
        before = [_ABOUT_ALL if line in general else _ABOUT_SOME for line in names]
        self._factor, self._mean = self._fit([self._precision(one) for one in before])

    def draw(self, seed: int, *purpose: str | int) -> World:
        """A possible world."""
        chance = generator(seed, *purpose)
        off = back(self._factor, [chance.gauss(0.0, 1.0) for _ in self._mean])
        effects = [mean + one for mean, one in zip(self._mean, off, strict=True)]
        ease = {
            item: chance.gauss(weighing.mean(effects), weighing.precision**-0.5)
            for item, weighing in self._items.items()
        }
        return self._world(ease, effects)

    def cautious(self, doubt: float) -> World:
        """A world in which each line does less than is likely, by so many deviations."""
        ease = {item: weighing.mean(self._mean) for item, weighing in self._items.items()}
        deviations = map(self._deviation, range(len(self._mean)))
        effects = zip(self._mean, deviations, strict=True)
        return self._world(ease, [mean - doubt * deviation for mean, deviation in effects])

    def _world(self, ease: Mapping[str, float], effects: Sequence[float]) -> World:
        return World(
            ease={item: self._ease + one for item, one in ease.items()},
            effects={line: effects[place] for line, place in self._lines.items()},
            low=self._low,
            high=self._high,
        )

    def _deviation(self, place: int) -> float:
        """The part of the solution before its own place is 0."""
        rest = [row[place:] for row in self._factor[place:]]
        half = forth(rest, [1.0, *[0.0] * (len(rest) - 1)])
        return math.sqrt(dot(half, half))

    def _precision(self, deviation: float) -> float:
        return 1 / (deviation * self._scale) ** 2

    def _fit(self, before: Sequence[float]) -> tuple[Triangle, list[float]]:
        """Of the lines alone: an item is tied to lines only, so each is first taken out by itself."""
        precision = [[0.0] * place + [one] for place, one in enumerate(before)]
        pull = [0.0] * len(before)
        for weighing in self._items.values():
            weighing.precision = self._precision(_EASE)
        for one in self._sights:
            weight = one.weight / (_NOISE * self._scale**2)
            places = sorted(self._lines[line] for line in one.lines)
            self._items[one.item].add(weight, one.score - self._ease, places)
            for number, place in enumerate(places):
                pull[place] += weight * (one.score - self._ease)
                for other in places[: number + 1]:
                    precision[place][other] += weight
        for weighing in self._items.values():
            weighing.take_out(precision, pull)
        factor = cholesky(precision)
        return factor, solve(factor, pull)


@dataclass(slots=True)
class Weighing:
    """What was seen of one item: how surely, to where it pulls, and how it is tied to lines."""

    precision: float = 0.0
    pull: float = 0.0
    ties: dict[int, float] = field(default_factory=dict)

    def add(self, weight: float, difference: float, places: Sequence[int]) -> None:
        """A score with the lines at these places."""
        self.precision += weight
        self.pull += weight * difference
        for place in places:
            self.ties[place] = self.ties.get(place, 0.0) + weight

    def take_out(self, precision: Triangle, pull: list[float]) -> None:
        """Leave the equations of the lines as they are when this one follows from them."""
        for place, tie in self.ties.items():
            share = tie / self.precision
            pull[place] -= share * self.pull
            for other, another in self.ties.items():
                if other <= place:
                    precision[place][other] -= share * another

    def mean(self, effects: Sequence[float]) -> float:
        """How much easier it is than others, given what the lines do."""
        done = fsum(tie * effects[place] for place, tie in self.ties.items())
        return (self.pull - done) / self.precision
