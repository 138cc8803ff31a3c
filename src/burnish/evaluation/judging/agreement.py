"""Agreement of verdicts with labels: share, Cohen's kappa, confusion, leniency; all with intervals."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from burnish.evaluation.statistics import (
    FEWEST_PAIRS,
    Interval,
    chance_of_gain,
    paired_permutation_test,
    score_interval,
    student_interval,
)

_NORMAL_95 = 1.959963984540054


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number with the interval that holds the true one."""

    value: float
    interval: Interval
    rows: int

    def to_json(self) -> dict[str, Any]:
        """By name."""
        return {
            "value": self.value,
            "interval": [self.interval.low, self.interval.high],
            "rows": self.rows,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect(Estimate):
    """By how much verdicts differ, on average over rows; `flips` counts rows that changed sides."""

    name: str
    p_value: float
    flips: int | None = None

    @property
    def found(self) -> bool:
        """Whether the interval leaves 0 out."""
        return self.interval.low > 0 or self.interval.high < 0

    def to_json(self) -> dict[str, Any]:
        """By name."""
        own = {"name": self.name, "p_value": self.p_value, "found": self.found}
        # Zero-argument super() does not find the class that `slots=True` makes.
        return {**Estimate.to_json(self), **own, "flips": self.flips}


def share(hits: Sequence[float]) -> Estimate:
    """A share or a mean of values from 0 to 1."""
    return Estimate(
        value=math.fsum(hits) / len(hits), interval=score_interval(hits), rows=len(hits)
    )


def effect(
    name: str, before: Sequence[float], after: Sequence[float], flips: int | None = None
) -> Effect:
    """The mean change from before to after, with Student's interval.

    Where nearly all rows changed alike, or hardly any did, that would be no interval, and the one that
    leaves room for changes yet unseen stands for it.
    """
    changes = [new - old for old, new in zip(before, after, strict=True)]
    size, mean = len(changes), math.fsum(changes) / len(changes)
    commonest = max(Counter(round(one, 6) for one in changes).values())
    if size - commonest >= FEWEST_PAIRS:
        variance = math.fsum((one - mean) ** 2 for one in changes) / size
        low, high = student_interval(size, mean, variance)
        chance = chance_of_gain(before, after)
        p_value = min(2 * min(chance, 1 - chance), 1.0)
    else:
        tested = paired_permutation_test(before, after, seed=0)
        low, high, p_value = tested.ci_low, tested.ci_high, tested.p_value
    return Effect(
        name=name,
        value=mean,
        interval=Interval(max(low, -1.0), min(high, 1.0)),
        rows=size,
        p_value=p_value,
        flips=flips,
    )


Confusion = Mapping[str, Mapping[str, int]]


def confusion(
    labels: Sequence[str], verdicts: Sequence[str], words: Sequence[str]
) -> dict[str, dict[str, int]]:
    """How often each label met each verdict: by label, then by verdict."""
    found = {label: dict.fromkeys(words, 0) for label in words}
    for label, verdict in zip(labels, verdicts, strict=True):
        found[label][verdict] += 1
    return found


def cohens_kappa(table: Confusion) -> Estimate | None:
    """Agreement beyond chance; None where labels or verdicts are all the same, which tells nothing.

    The interval is that of Fleiss, Cohen and Everitt (1969) with 1/k of a row more in each of the
    k × k cells: without them it covers too seldom where few rows disagree, and has no width where none
    does.
    """
    words = list(table)
    counts = [[table[label][verdict] for verdict in words] for label in words]
    rows = sum(map(sum, counts))
    if rows == 0:
        return None
    value, _ = _kappa(counts)
    if value is None:
        return None
    smooth = [[one + 1 / len(words) for one in row] for row in counts]
    centre, error = _kappa(smooth)
    assert centre is not None
    low, high = centre - _NORMAL_95 * error, centre + _NORMAL_95 * error
    interval = Interval(max(min(low, value), -1.0), min(max(high, value), 1.0))
    return Estimate(value=value, interval=interval, rows=rows)


def _kappa(counts: Sequence[Sequence[float]]) -> tuple[float | None, float]:
    """Kappa and its standard error."""
    size, total = range(len(counts)), math.fsum(map(math.fsum, counts))
    shares = [[one / total for one in row] for row in counts]
    rows = [math.fsum(row) for row in shares]
    columns = [math.fsum(shares[i][j] for i in size) for j in size]
    agreed = math.fsum(shares[i][i] for i in size)
    chance = math.fsum(rows[i] * columns[i] for i in size)
    if chance >= 1 - 1e-12 or (max(rows) >= 1 - 1e-12 and max(columns) >= 1 - 1e-12):
        return None, 0.0
    kappa = (agreed - chance) / (1 - chance)
    on = math.fsum(shares[i][i] * (1 - (rows[i] + columns[i]) * (1 - kappa)) ** 2 for i in size)
    off = (1 - kappa) ** 2 * math.fsum(
        shares[i][j] * (columns[i] + rows[j]) ** 2 for i in size for j in size if i != j
    )
    spread = on + off - (kappa - chance * (1 - kappa)) ** 2
    return kappa, math.sqrt(max(spread, 0.0) / total) / (1 - chance)


def flip_rate(by_row: Sequence[Sequence[bool]]) -> Estimate | None:
    """How often two askings of one row differ; rows count once, however often they were asked."""
    rates = []
    for passed in by_row:
        times, good = len(passed), sum(passed)
        if times > 1:
            rates.append(2 * good * (times - good) / (times * (times - 1)))
    return share(rates) if rates else None
