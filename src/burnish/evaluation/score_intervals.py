"""Intervals of scores from a few numbers, where reading every item would take too long."""

from __future__ import annotations

import math

from burnish.evaluation.statistics import Interval, wilson_interval

_NORMAL_95 = 1.959963984540054
_SAME = 1e-9


def is_rate(score: float, passed: int, total: int) -> bool:
    """Whether a mean score is a pass rate: all items then scored 0 or 1."""
    return total > 0 and abs(score - passed / total) <= _SAME


def rate_interval(passed: int, total: int) -> tuple[float, float]:
    """The 95 % interval of a pass rate."""
    interval: Interval = wilson_interval(passed, total)
    return interval.low, interval.high


def mean_interval(items: int, mean: float, mean_square: float) -> tuple[float, float] | None:
    """The 95 % interval of a mean by its normal limit; None for fewer than two items.

    Where all scores can only lie between 0 and 1, as most do, so does the interval.
    """
    if items < 2:
        return None
    variance = max(mean_square - mean * mean, 0.0) * items / (items - 1)
    spread = _NORMAL_95 * math.sqrt(variance / items)
    low, high = mean - spread, mean + spread
    if 0.0 <= mean <= 1.0:
        low, high = max(low, 0.0), min(high, 1.0)
    return low, high
