"""An alarm for candidates that gain on the items they were made from and not on others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist, fmean, variance

_LEAST_ITEMS = 5
# Below, the figure says more of the test than of the items.
_LEAST_CHANCE = 1e-6
# A side on which all gains are alike has some noise nevertheless: as if half a point came on top.
_PRIOR = 0.25


def paired_gains(candidate: Mapping[str, float], baseline: Mapping[str, float]) -> list[float]:
    """What a candidate gained on each item that both have answered, in order of the ids."""
    return [candidate[item] - baseline[item] for item in sorted(candidate) if item in baseline]


def overfit_alarm(
    train_gains: Sequence[float],
    validation_gains: Sequence[float],
    *,
    level: float = 0.01,
    least_gap: float = 0.05,
) -> str | None:
    """A message when the gain on train items is clearly larger than on validation items, else None.

    Gains are a candidate's score less the baseline's, one an item (`paired_gains`). The alarm wants a
    gain on train, a gap of at least `least_gap`, five items on each side, and a one-sided two-sample
    test of the means (Welch's, with a floor on the variances so that a few equal gains prove
    nothing) below `level`: of honest candidates about one in a hundred raises it.
    """
    sizes = len(train_gains), len(validation_gains)
    if min(sizes) < _LEAST_ITEMS:
        return None
    train, validation = fmean(train_gains), fmean(validation_gains)
    gap = train - validation
    if train <= 0 or gap < least_gap:
        return None
    squared = sum(_error_squared(one) for one in (train_gains, validation_gains))
    chance = 1.0 - NormalDist().cdf(gap / math.sqrt(squared))
    if chance >= level:
        return None
    return (
        f"it gained {train:+.3g} on {sizes[0]} train items and {validation:+.3g} on {sizes[1]} "
        f"validation items: it seems to have learnt the train items by heart (p {_figure(chance)})"
    )


def _figure(chance: float) -> str:
    return f"= {chance:.2g}" if chance >= _LEAST_CHANCE else f"< {_LEAST_CHANCE:g}"


def _error_squared(gains: Sequence[float]) -> float:
    """The squared standard error of a mean gain, widened as Student's t widens small samples."""
    size = len(gains)
    scale = max((abs(one) for one in gains), default=1.0) or 1.0
    spread = (variance(gains) * (size - 1) + _PRIOR * scale**2) / (size - 1)
    return spread / size * (1.0 + 2.0 / (size - 1))
