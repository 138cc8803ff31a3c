"""Ending a trial early once it cannot reasonably beat the incumbent.

A trial runs its items in seeded blocks. After each block its scores are paired with the incumbent's
on the same items, and two rules are tried:

- *certain*: even full marks on all items that are left would not lift it above the incumbent. No
  error is possible.
- *betting*: against the hypothesis "the candidate is at least as good", a gambler stakes a share of his
  money on each item that the candidate loses. Were the hypothesis true, the expected wealth would
  never grow, so (Ville's inequality) it reaches 1/alpha with a probability of at most alpha, however
  often one looks. The trial ends when it does. Ten stakes are played side by side and averaged.

So a candidate that is as good as the incumbent is ended wrongly with a probability of at most alpha
over the whole trial: 0.05 for `conservative`, 0.2 for `aggressive`. `tests/unit/optimization/
test_racing.py` simulates both, and how many items losers save.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

_STAKES = tuple(0.09 * step for step in range(1, 11))
_ALPHA = {"conservative": 0.05, "aggressive": 0.2}


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

    def hopeless(
        self, scores: Mapping[str, float], incumbent: Mapping[str, float], *, order: Sequence[str]
    ) -> str | None:
        """Why a trial with these scores so far should end, or None. `order` is all its items."""
        if self.mode is RacingMode.OFF:
            return None
        differences = [
            scores[item] - incumbent[item] for item in order if item in scores and item in incumbent
        ]
        left = [incumbent[item] for item in order if item not in scores and item in incumbent]
        most = sum(differences) + sum(max(self.best_possible - score, 0.0) for score in left)
        if left and most <= 0:
            return f"cannot beat the incumbent even with full marks on the {len(left)} items left"
        if wealth(differences) >= 1 / _ALPHA[self.mode.value]:
            worse = sum(1 for difference in differences if difference < 0)
            better = sum(1 for difference in differences if difference > 0)
            return (
                f"behind the incumbent on {worse} and ahead on {better} of {len(differences)} items"
            )
        return None


def wealth(differences: Sequence[float]) -> float:
    """What the gambler has after betting against the candidate on each difference in turn."""
    widest = max((abs(difference) for difference in differences), default=0.0)
    scale = max(widest, 1.0)
    total = 0.0
    for stake in _STAKES:
        money = 1.0
        for difference in differences:
            money *= 1.0 - stake * difference / scale
        total += money
    return total / len(_STAKES)
