"""Racing: trials of one step end early once they will hardly end as the best.

Trials run their items in seeded blocks, those of a step side by side. After each block the scores
of all that still run are laid beside the incumbent's on the same items, and two rules are tried:

- *certain*: even full marks on all items that are left would not lift a trial above the incumbent.
- *chance*: how likely each of them, the incumbent among them, is to have the highest mean once all
  items have run. A score is taken as the sum of what is the trial's, what is the item's, and noise; so
  items that are hard for all tell nothing, and the noise is measured over all trials together (with
  one observation more: the spread of the incumbent's scores, for the first looks). The least likely
  trials end, as many as have a chance of at most alpha together: 0.05 for `conservative`, 0.2 for
  `aggressive`.

Nothing is assumed of how good proposals are. So where they differ widely, whoever would have ended as
the best is ended at a look with a chance of at most alpha; where all are alike it happens more often,
and costs little. How good a trial is beyond its items does not matter: the winner is chosen by them.
`python -m bench races` replays it on real scores, and `tests/unit/optimization/test_racing.py`
simulates how often the best is lost and what losers save.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean, variance

from burnish.domain.wording import counted

_ALPHA = {"conservative": 0.05, "aggressive": 0.2}
# The integral over the highest mean: from so many deviations below it to as many above, in such steps.
# Sums over so smooth a curve are exact long before the steps are this small.
_REACH, _STEP = 7.0, 0.25
_ROOT_OF_TWO = math.sqrt(2.0)
_NO_NOISE = 1e-9


class RacingMode(StrEnum):
    """How eagerly trials are ended."""

    OFF = "off"
    CONSERVATIVE = "conservative"
    AGGRESSIVE = "aggressive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Racing:
    """The racing policy of an optimization."""

    mode: RacingMode = RacingMode.OFF
    block_size: int = 8
    best_possible: float = 1.0

    def blocks(self, item_ids: Sequence[str], *, seed: int) -> list[tuple[str, ...]]:
        """All items in seeded order, cut into blocks; one block when racing is off."""
        if self.mode is RacingMode.OFF:
            return [tuple(item_ids)]
        order = sorted(item_ids)
        random.Random(f"racing:{seed}").shuffle(order)  # noqa: S311 - an order, not a secret
        size = self.block_size
        return [tuple(order[start : start + size]) for start in range(0, len(order), size)]

    def ended(
        self,
        racers: Mapping[str, Mapping[str, float]],
        incumbent: Mapping[str, float],
        *,
        order: Sequence[str],
    ) -> dict[str, str]:
        """Which racers, with these scores so far, should end, and why. `order` is all their items."""
        if self.mode is RacingMode.OFF:
            return {}
        found: dict[str, str] = {}
        for name, scores in racers.items():
            left = [incumbent[item] for item in order if item in incumbent and item not in scores]
            if left and self._most(scores, incumbent, order) <= 0:
                found[name] = (
                    f"cannot beat the incumbent even with full marks on the "
                    f"{counted(len(left), 'item')} left"
                )
        going = {name: scores for name, scores in racers.items() if name not in found}
        return found | self._unlikely(going, incumbent, order)

    def _most(
        self, scores: Mapping[str, float], incumbent: Mapping[str, float], order: Sequence[str]
    ) -> float:
        """The sum by which a racer would lead with full marks on what is left."""
        best = self.best_possible
        return sum(
            scores[item] - incumbent[item] if item in scores else max(best - incumbent[item], 0.0)
            for item in order
            if item in incumbent
        )

    def _unlikely(
        self,
        racers: Mapping[str, Mapping[str, float]],
        incumbent: Mapping[str, float],
        order: Sequence[str],
    ) -> dict[str, str]:
        shared = [
            item
            for item in order
            if item in incumbent and all(item in scores for scores in racers.values())
        ]
        known = [incumbent[item] for item in order if item in incumbent]
        left = len(known) - len(shared)
        if not shared or not left:
            return {}
        rows = [[scores[item] for item in shared] for scores in (incumbent, *racers.values())]
        chances = chances_of_best(rows, left=left, spread=variance(known))
        found, lost = {}, 0.0
        for chance, name in sorted(zip(chances[1:], racers, strict=True)):
            lost += chance
            if lost > _ALPHA[self.mode.value]:
                break
            found[name] = (
                f"its chance to end as the best of {len(rows)} is {chance:.1%} "
                f"after {len(shared)} of {counted(len(known), 'item')}"
            )
        return found


def chances_of_best(rows: Sequence[Sequence[float]], *, left: int, spread: float) -> list[float]:
    """How likely each row of scores on the same items is to have the highest mean of all in the end.

    `left` items are still to come. `spread` is a variance that the noise hardly exceeds.
    """
    many, items = len(rows), len(rows[0])
    means = [fmean(row) for row in rows]
    by_item = [fmean(column) for column in zip(*rows, strict=True)]
    middle = fmean(means)
    squares = sum(
        (score - mean - of_item + middle) ** 2
        for row, mean in zip(rows, means, strict=True)
        for score, of_item in zip(row, by_item, strict=True)
    )
    noise = (spread + squares) / (1 + (many - 1) * (items - 1))
    # What is left goes on as before, give or take what is not known of the mean, and its own noise.
    ends = left * left * noise / items + left * noise
    deviation = max(math.sqrt(ends) / (items + left), _NO_NOISE)
    return _highest([mean / deviation for mean in means])


def _highest(centres: Sequence[float]) -> list[float]:
    """How likely each of several normal variables of deviation 1 is the highest."""
    top = max(centres)
    shares = [0.0] * len(centres)
    for step in range(round(2 * _REACH / _STEP) + 1):
        point = top - _REACH + step * _STEP
        below = [
            math.log(max(math.erfc((centre - point) / _ROOT_OF_TWO) / 2, 1e-300))
            for centre in centres
        ]
        all_below = sum(below)
        for number, centre in enumerate(centres):
            others = all_below - below[number]
            shares[number] += math.exp(others - (point - centre) ** 2 / 2)
    total = sum(shares)
    return [share / total for share in shares]
