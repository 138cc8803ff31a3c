"""Broken items: those that passed before and fail now, told apart from items that are flaky."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from burnish.domain import ItemResult

# Failures that an item's own pass rate explains less often than this are no luck.
LEVEL = 0.05
# With one run before, five failures in a row are the fewest that its pass rate does not explain.
RERUNS = 4


class Passes(NamedTuple):
    """How many runs of an item passed. Runs that an outage ended are none."""

    passed: int
    runs: int

    @property
    def always(self) -> bool:
        """Whether there are runs, and none failed."""
        return 0 < self.runs == self.passed

    def __str__(self) -> str:
        return f"{self.passed} of {self.runs}"

    def plus(self, other: Passes) -> Passes:
        """Both together."""
        return Passes(self.passed + other.passed, self.runs + other.runs)


class Standing(StrEnum):
    """What an item is that passed before and failed now."""

    # It fails more often than its pass rate before explains.
    BROKEN = "broken"
    # It passes sometimes, before or now, and its rate before explains how often it fails now.
    FLAKY = "flaky"
    # It always passed before and never now, in too few runs to tell.
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class ItemChange:
    """One item before and now; `chance` is how likely so few passes are at the rate of before."""

    item_id: str
    before: Passes
    now: Passes
    chance: float
    standing: Standing

    def __str__(self) -> str:
        return f"{self.item_id} ({self.before} before, {self.now} now)"

    def to_json(self) -> dict[str, Any]:
        """By name."""
        return {
            "item_id": self.item_id,
            "standing": self.standing.value,
            "before": self.before._asdict(),
            "now": self.now._asdict(),
            "chance": self.chance,
        }


@dataclass(frozen=True, slots=True)
class BrokenItems:
    """Every item that passed before and failed now, in the order of its id."""

    changes: tuple[ItemChange, ...] = ()

    def of(self, standing: Standing) -> list[ItemChange]:
        """Those of one standing."""
        return [one for one in self.changes if one.standing is standing]

    @property
    def passed(self) -> bool:
        """Whether no case that passed fails: flaky ones are named, and hold up nothing."""
        return all(one.standing is Standing.FLAKY for one in self.changes)

    @property
    def item_ids(self) -> tuple[str, ...]:
        """Those that hold something up."""
        return tuple(one.item_id for one in self.changes if one.standing is not Standing.FLAKY)

    def in_words(self, most: int = 10) -> str:
        """What holds it up, and which items are flaky."""
        words = {
            Standing.BROKEN: "broken, failing more often than the pass rate with the baseline explains",
            Standing.UNDECIDED: "undecided, failing in all of too few runs to tell broken from flaky",
            Standing.FLAKY: "flaky, failing as often as the pass rate with the baseline explains",
        }
        told = [
            f"{len(found)} {'item' if len(found) == 1 else 'items'} {said}: "
            f"{', '.join(map(str, found[:most]))}{', …' * (len(found) > most)}"
            for standing, said in words.items()
            if (found := self.of(standing))
        ]
        first = ["no item that passed with the baseline is broken"] if self.passed else []
        return "; ".join([*first, *told])

    def to_json(self) -> dict[str, Any]:
        """By name."""
        return {"passed": self.passed, "items": [one.to_json() for one in self.changes]}


def count_passes(results: Iterable[ItemResult]) -> dict[str, Passes]:
    """By item how often it passed, each (item, repeat) once. Nobody's answer is no run."""
    runs: dict[tuple[str, int], bool] = {}
    found: dict[str, Passes] = {}
    for one in results:
        found.setdefault(one.item_id, Passes(0, 0))
        if one.error is None or one.error.kind.scored:
            runs[one.item_id, one.repeat] = one.passed
    for (item, _), passed in runs.items():
        found[item] = found[item].plus(Passes(int(passed), 1))
    return found


def broken_items(before: Mapping[str, Passes], now: Mapping[str, Passes]) -> BrokenItems:
    """What became of the items that both ran and that passed before at least once."""
    changes = []
    for item in sorted(before.keys() & now.keys()):
        old, new = before[item], now[item]
        if not old.passed or new.always:
            continue
        changes.append(ItemChange(item, old, new, chance_of(old, new), _standing(old, new)))
    return BrokenItems(tuple(changes))


def to_run_again(
    before: Mapping[str, Passes], now: Mapping[str, Passes], most: int
) -> Sequence[str]:
    """The items whose standing more runs may yet change, up to so many runs of each in all.

    What is asked for depends on what the last run could change, never on how it looks so far:
    stopping at a look that happens to please would find more broken than there are.
    """
    found = []
    for item in sorted(before.keys() & now.keys()):
        old, new = before[item], now[item]
        left = most - new.runs
        if not old.passed or new.always or left <= 0:
            continue
        worst = chance_of(old, Passes(new.passed, most))
        best = chance_of(old, Passes(new.passed + left, most))
        if worst < LEVEL <= best:
            found.append(item)
    return found


def chance_of(before: Passes, now: Passes) -> float:
    """How likely an item passes so seldom now, if its pass rate is that of before.

    The rate is not known better than its runs show it: every rate is taken for as likely as any other
    at first, so this is the tail of a beta-binomial distribution.
    """
    passes, fails = before.passed + 1, before.runs - before.passed + 1
    return math.fsum(
        math.comb(now.runs, k)
        * math.exp(_log_beta(passes + k, fails + now.runs - k) - _log_beta(passes, fails))
        for k in range(now.passed + 1)
    )


def _standing(before: Passes, now: Passes) -> Standing:
    if chance_of(before, now) < LEVEL:
        return Standing.BROKEN
    return Standing.UNDECIDED if before.always and not now.passed else Standing.FLAKY


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
