"""How sure a score is, and whether one experiment beats another. Pure, seeded, standard library.

No result depends on the order of the items. Where resampling would be slow, its limit is computed
instead; each function says when.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from operator import getitem
from statistics import NormalDist

from burnish.domain import UsageError

_NORMAL = NormalDist()
# Draws beyond which the bootstrap is replaced by its limit: about 0.1 s of drawing.
_MAX_DRAWS = 1_000_000
_MAX_ENUMERATED = 14
# Differences whose signs are flipped one by one; smaller ones beyond are normal in sum.
_MAX_FLIPPED = 1_024
# Means over repeats differ by rounding where they are the same in truth.
_ROUNDING = 1e-12
# Of five pairs even all changes in one direction are chance (p = 0.0625).
FEWEST_PAIRS = 6
# Normal quantiles of 97.5 and 80 %: a test at 5 % that finds four in five.
_FOUR_IN_FIVE = 2.801585
_SAME = 1e-9
_SIGNIFICANT = 0.05


@dataclass(frozen=True, slots=True)
class Interval:
    """Where the true value lies, with this confidence."""

    low: float
    high: float
    confidence: float = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedComparison:
    """What changed between two experiments on the same items; `delta` is after less before.

    `detectable` is the difference that so many items show four times in five; None where they are too
    few to show any.
    """

    delta: float
    ci_low: float
    ci_high: float
    p_value: float
    improved: int
    worsened: int
    unchanged: int
    items: int
    detectable: float | None = None

    @property
    def clear(self) -> bool:
        """Whether chance alone makes such a difference less than once in twenty times."""
        return self.delta != 0 and self.p_value < _SIGNIFICANT

    @property
    def regressed(self) -> bool:
        """Whether it is clearly worse."""
        return self.clear and self.delta < 0


def wilson_interval(passed: int, total: int, confidence: float = 0.95) -> Interval:
    """Wilson's score interval of a rate, honest at 0 of n and n of n too; [0, 1] for no runs."""
    if not 0 <= passed <= total:
        raise _bad(f"{passed} of {total} is not a rate")
    if total == 0:
        return Interval(0.0, 1.0, confidence)
    rate = passed / total
    return _bounded(total, rate, rate * (1 - rate), confidence)


def _bounded(size: int, mean: float, variance: float, confidence: float = 0.95) -> Interval:
    """The interval of a mean of values from 0 to 1, of any spread; Wilson's where all are 0 or 1.

    Wilson's interval is that of a mean with z²/2 values more at either end, in which the spread of
    the values stands as p(1 - p). Here it is their own, by Student's quantile the less they are like
    0 and 1. So it never has no width: values that are all alike leave room for others yet unseen.
    """
    z = _quantile(confidence)
    most = mean * (1 - mean)
    square = z * z
    if size > 1 and most > 0:
        student = _student(confidence, size) ** 2 * size / (size - 1)
        square += (student - square) * (1 - min(variance / most, 1.0))
    every = size + z * z
    centre = (size * mean + z * z / 2) / every
    spread = math.sqrt(square * size * variance + z**4 / 4) / every
    # At the ends the bounds are exact; rounding would leave them a hair beside the mean itself.
    low = 0.0 if mean == 0 else min(max(0.0, centre - spread), mean)
    high = 1.0 if mean == 1 else max(min(1.0, centre + spread), mean)
    return Interval(low, high, confidence)


def bootstrap_interval(
    values: Sequence[float], *, confidence: float = 0.95, seed: int, resamples: int = 2000
) -> Interval:
    """Percentile bootstrap interval of the mean, its tails widened for small samples.

    The widening is Hesterberg's (2015): quantiles are taken where Student's t has its tails, since
    plain percentiles of 20 items cover 92 %, not 95 %. With two different values the resampled
    mean is binomial, and its quantiles are computed. Past a million draws the quantiles are those
    of the Cornish-Fisher expansion (mean, deviation and skewness), which the percentiles approach.
    Equal values give an interval of no width: use `wilson_interval` for pass rates.
    """
    ordered = _require_values(values)
    size = len(ordered)
    tail = _NORMAL.cdf(-_student(confidence, size) * math.sqrt(size / max(1, size - 1)))
    if ordered[0] == ordered[-1]:
        return Interval(ordered[0], ordered[0], confidence)
    if size * resamples > _MAX_DRAWS:
        low, high = _expanded(ordered, tail), _expanded(ordered, 1 - tail)
    elif len(set(ordered)) == 2:
        low, high = _binomial_means(ordered, tail)
    else:
        draw = _generator(seed).choices
        means = sorted(math.fsum(draw(ordered, k=size)) / size for _ in range(resamples))
        low, high = _percentile(means, tail), _percentile(means, 1 - tail)
    return Interval(max(low, ordered[0]), min(high, ordered[-1]), confidence)


def paired_permutation_test(
    before: Sequence[float],
    after: Sequence[float],
    *,
    seed: int,
    resamples: int = 10_000,
    confidence: float = 0.95,
) -> PairedComparison:
    """Two-sided sign-flip test of the mean difference, with its interval.

    The p-value is exact when all changes have one size (0/1 scores: McNemar's exact test) or at
    most 14 items changed; otherwise from seeded resamples, (hits + 1) / (resamples + 1).
    """
    if len(before) != len(after):
        raise _bad(f"{len(before)} scores cannot be paired with {len(after)}")
    differences = _require_values([b - a for a, b in zip(before, after, strict=True)])
    changes = [change for change in differences if abs(change) > _ROUNDING]
    interval = _difference_interval(differences, confidence, seed)
    improved = sum(change > 0 for change in changes)
    return PairedComparison(
        delta=math.fsum(differences) / len(differences),
        ci_low=interval.low,
        ci_high=interval.high,
        p_value=_sign_flip_p(changes, seed, resamples),
        improved=improved,
        worsened=len(changes) - improved,
        unchanged=len(differences) - len(changes),
        items=len(differences),
        detectable=_detectable(differences),
    )


def _difference_interval(differences: Sequence[float], confidence: float, seed: int) -> Interval:
    """The bootstrap's, and at least as wide as that of values between the largest change either way.

    The bootstrap alone collapses where all items changed alike, or none, and covers too seldom where
    few did.
    """
    drawn = bootstrap_interval(differences, confidence=confidence, seed=seed)
    largest = max(map(abs, differences))
    if largest <= _ROUNDING:
        largest = 1.0
    shares = [(change / largest + 1) / 2 for change in differences]
    size = len(shares)
    mean = min(max(math.fsum(shares) / size, 0.0), 1.0)
    variance = math.fsum((share - mean) ** 2 for share in shares) / size
    found = _bounded(size, mean, variance, confidence)
    low, high = largest * (2 * found.low - 1), largest * (2 * found.high - 1)
    return Interval(min(drawn.low, low), max(drawn.high, high), confidence)


def _detectable(differences: Sequence[float]) -> float | None:
    """By the spread of the differences, with one item more that changed: none may have."""
    size = len(differences)
    if size < FEWEST_PAIRS:
        return None
    spread = math.sqrt((math.fsum(one * one for one in differences) + 1.0) / (size + 1))
    return _FOUR_IN_FIVE * spread / math.sqrt(size)


def chance_of_gain(before: Sequence[float], after: Sequence[float], *, seed: int = 0) -> float:
    """One-sided p-value of the paired test: how often chance alone gives this gain or more."""
    differences = [b - a for a, b in zip(before, after, strict=True)]
    changes = [change for change in differences if abs(change) > _ROUNDING]
    both = _sign_flip_p(changes, seed, 10_000)
    return both / 2 if math.fsum(changes) > _ROUNDING else 1 - both / 2


class RunningScore:
    """Mean and spread of scores as they come in (Welford's method), in constant memory."""

    def __init__(self) -> None:
        self.count = 0
        self.mean = 0.0
        self._squares = 0.0
        self._repeats = 0

    def add(self, value: float, *, repeated: bool = False) -> None:
        """Take in one score, maybe of an item that has one already."""
        self.count += 1
        self._repeats += repeated
        step = value - self.mean
        self.mean += step / self.count
        self._squares += step * (value - self.mean)

    @property
    def variance(self) -> float:
        """The sample variance; 0 below two scores."""
        return self._squares / (self.count - 1) if self.count > 1 else 0.0

    def interval(self) -> Interval | None:
        """That of `mean_interval`, in which repeats of an item are no items more."""
        items = min(max(self.count - self._repeats, 1), self.count)
        square = self.mean**2 + self._squares / max(self.count, 1)
        found = mean_interval(items, self.mean, square)
        return None if found is None else Interval(*found)


def _sign_flip_p(changes: Sequence[float], seed: int, resamples: int) -> float:
    """How often random signs give a sum at least as far from 0."""
    if not changes:
        return 1.0
    sizes = sorted(map(abs, changes), reverse=True)
    # Sums that are equal in truth differ by rounding, and a tie counts as a hit.
    reached = abs(math.fsum(changes)) - _ROUNDING * math.fsum(sizes)
    if sizes[0] - sizes[-1] <= _ROUNDING * sizes[0]:
        return _sign_test_p(sum(change > 0 for change in changes), len(changes))
    if len(sizes) <= _MAX_ENUMERATED:
        sums = [sizes[0]]  # the first sign is fixed: the other half mirrors this one
        for size in sizes[1:]:
            sums = [total + sign * size for total in sums for sign in (1, -1)]
        return sum(abs(total) >= reached for total in sums) / len(sums)
    drawn = islice(_flipped_sums(sizes, _generator(seed)), resamples)
    return (sum(abs(total) >= reached for total in drawn) + 1) / (resamples + 1)


def _flipped_sums(sizes: Sequence[float], rng: random.Random) -> Iterator[float]:
    """Endless sums under random signs. Eight signs at a time come from a table by one byte."""
    flipped, rest = sizes[:_MAX_FLIPPED], sizes[_MAX_FLIPPED:]
    deviation = math.sqrt(math.fsum(size * size for size in rest))
    tables: list[list[float]] = []
    for start in range(0, len(flipped), 8):
        table = [0.0]
        for size in flipped[start : start + 8]:
            table = [total + sign * size for total in table for sign in (1, -1)]
        tables.append(table * (256 // len(table)))
    while True:
        total = sum(map(getitem, tables, rng.randbytes(len(tables))))
        yield total + rng.gauss(0.0, deviation) if rest else total


def _sign_test_p(positive: int, total: int) -> float:
    """Exact two-sided sign test."""
    tail = math.fsum(islice(binomial(total, 0.5), max(positive, total - positive), None))
    return min(1.0, 2 * tail)


def binomial(trials: int, chance: float) -> Iterator[float]:
    """The probabilities of 0, 1, … successes."""
    hit, miss = math.log(chance), math.log1p(-chance)
    whole = math.lgamma(trials + 1)
    for hits in range(trials + 1):
        ways = whole - math.lgamma(hits + 1) - math.lgamma(trials - hits + 1)
        yield math.exp(ways + hits * hit + (trials - hits) * miss)


def _binomial_means(ordered: Sequence[float], tail: float) -> tuple[float, float]:
    """Quantiles of the resampled mean of two different values, without resampling."""
    size, low, high = len(ordered), ordered[0], ordered[-1]
    cumulative = list(accumulate(binomial(size, ordered.count(high) / size)))
    first = next(hits for hits, chance in enumerate(cumulative) if chance >= tail)
    last = next((hits for hits, chance in enumerate(cumulative) if chance >= 1 - tail), size)
    return low + (high - low) * first / size, low + (high - low) * last / size


def _expanded(ordered: Sequence[float], chance: float) -> float:
    """Quantile of the resampled mean by the Cornish-Fisher expansion."""
    size = len(ordered)
    mean = math.fsum(ordered) / size
    variance = math.fsum((value - mean) ** 2 for value in ordered) / size
    third = math.fsum((value - mean) ** 3 for value in ordered) / size
    z = _NORMAL.inv_cdf(chance)
    skewness = third / (variance * math.sqrt(variance))
    return mean + math.sqrt(variance / size) * (z + skewness * (z * z - 1) / (6 * math.sqrt(size)))


def _generator(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - repeatable, not secret


def _percentile(ordered: Sequence[float], chance: float) -> float:
    place = chance * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _quantile(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise _bad(f"a confidence of {confidence} is not between 0 and 1")
    return _NORMAL.inv_cdf(0.5 + confidence / 2)


def _student(confidence: float, size: int) -> float:
    """Student's t quantile for a mean of `size` values, by expansion around the normal one."""
    z = _quantile(confidence)
    freedom = max(1, size - 1)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3


def _require_values(values: Iterable[float]) -> list[float]:
    ordered = sorted(values)
    if not ordered:
        raise _bad("there is no score")
    if not all(map(math.isfinite, ordered)):
        raise _bad("a score is not a finite number")
    return ordered


def _bad(why: str) -> UsageError:
    return UsageError(
        what="the statistic cannot be computed",
        why=why,
        fix="check the scores that are compared",
        code="invalid_statistic",
    )


def is_rate(score: float, passed: int, total: int) -> bool:
    """Whether a mean score is a pass rate: all items then scored 0 or 1."""
    return total > 0 and abs(score - passed / total) <= _SAME


def rate_interval(passed: int, total: int) -> tuple[float, float]:
    """The 95 % interval of a pass rate."""
    interval: Interval = wilson_interval(passed, total)
    return interval.low, interval.high


def mean_interval(items: int, mean: float, mean_square: float) -> tuple[float, float] | None:
    """The 95 % interval of a mean over items; None where too few tell nothing.

    Of scores from 0 to 1 it is Wilson's, for any spread (`_bounded`); of others, which one tells by
    squares larger than the scores, Student's.
    """
    variance = max(mean_square - mean * mean, 0.0)
    if items and 0.0 <= mean <= 1.0 and mean_square <= mean + _SAME:
        interval = _bounded(items, mean, variance)
        return interval.low, interval.high
    return student_interval(items, mean, variance) if items > 1 else None


def student_interval(items: int, mean: float, variance: float) -> tuple[float, float]:
    """Student's 95 % interval of a mean of values of any size; `variance` is over all of them."""
    spread = _student(0.95, items) * math.sqrt(variance / (items - 1))
    return mean - spread, mean + spread


def score_interval(scores: Sequence[float]) -> Interval:
    """The interval of an experiment's score; without a single result it may be anything."""
    size = len(scores)
    mean = math.fsum(scores) / max(size, 1)
    found = mean_interval(size, mean, math.fsum(one * one for one in scores) / max(size, 1))
    return Interval(*(found or (min(0.0, mean), max(1.0, mean))))
