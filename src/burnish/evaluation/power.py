"""Power of a suite: the least gain that so many items can show."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import islice

from burnish.domain.wording import counted
from burnish.evaluation.statistics import FEWEST_PAIRS, binomial

_MISSED = 0.2


def detectable_gain(items: int) -> float | None:
    """The least gain that so many items show four times in five, if none of them gets worse.

    It is the share of items that must change so that the exact paired test (0/1 scores, two-sided,
    5 %) finds it with a chance of 80 %; None for fewer than six, which can show nothing. Where others
    get worse by chance it takes more: `PairedComparison.detectable` knows by how much they vary.
    """
    if items < FEWEST_PAIRS:
        return None
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        missed = math.fsum(islice(binomial(items, middle), FEWEST_PAIRS))
        low, high = (middle, high) if missed > _MISSED else (low, middle)
    return high


def detectable_words(items: int, noun: str = "item") -> str:
    """The same as words, such as `with 60 items you can see +0.13`."""
    gain = detectable_gain(items)
    if gain is None:
        return f"with {counted(items, noun)} nothing can be shown: it takes {FEWEST_PAIRS} at least"
    sample = counted(items, noun)
    return f"with {sample} you can see {gain:+.2f}, four times in five, if no item gets worse"


def compared_items(splits: Mapping[str, int]) -> tuple[int, str]:
    """How many items decide a comparison, and what they are called: held-out ones where there are."""
    if splits.get("test"):
        return splits["test"], "held-out item"
    return sum(splits.values()), "item"
