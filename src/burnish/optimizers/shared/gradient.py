"""An estimated gradient: which features of a candidate raise its score, and how sure that is.

Candidates are perturbations of a baseline, described by the names of what was changed. Score
differences to the baseline are fitted by Bayesian ridge regression on these features:

- each name, such as `cue:sentiment`;
- its prefixes, such as `cue`, so that relatives learn from each other;
- each pair of names, for effects that only show together.

All weights are independent and normal before anything is seen; the posterior follows in closed
form. It is solved in the space of observations, of which there are few, so features need no list.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, combinations
from operator import mul

from burnish.optimizers.shared.seeded_random import generator

Triangle = list[list[float]]
# A control character, so that no name can hold it.
_PAIR = "\x1e"
# What all differences share: the baseline's own luck with the items.
_LUCK = "\x1d"


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What one candidate showed: the difference to the baseline and that difference's variance."""

    features: tuple[str, ...]
    difference: float
    variance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A mean and how far off it may be."""

    mean: float
    deviation: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Prior:
    """What is believed before anything is seen. `means` are expected effects by name.

    Deviations are for scores from 0 to 1; `scale` is the width of another scale. `luck` is how far
    off the baseline's own score may be: it shifts all differences alike.
    """

    name: float = 0.05
    prefix: float = 0.04
    pair: float = 0.03
    luck: float = 0.0
    scale: float = 1.0
    means: Mapping[str, float] = field(default_factory=dict)

    def variance(self, feature: str) -> float:
        """Of one weight."""
        if feature == _LUCK:
            deviation = self.luck
        elif _PAIR in feature:
            deviation = self.pair
        else:
            deviation = self.prefix if feature.endswith(":") else self.name
        return (deviation * self.scale) ** 2

    def mean(self, feature: str) -> float:
        """Of one weight."""
        return self.means.get(feature, 0.0) * self.scale


def expand(names: Iterable[str]) -> tuple[str, ...]:
    """A candidate's features: its names, their prefixes (once each) and their pairs."""
    return tuple(map(_PAIR.join, _parts(names)))


def _parts(names: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """Features with pairs still apart: to write them out is dear where many sets are valued."""
    ordered = sorted(set(names))
    prefixes = {prefix for name in ordered for prefix in _prefixes(name)}
    return chain(zip(ordered), zip(sorted(prefixes)), combinations(ordered, 2))


class Gradient:
    """The fitted effects. Equal observations, in any order, give equal estimates up to rounding."""

    def __init__(self, observations: Sequence[Observation], prior: Prior | None = None) -> None:
        self._prior = prior or Prior()
        self._observations = tuple(observations)
        self._rows = [(*expand(one.features), _LUCK) for one in self._observations]
        self._weights: dict[str, float] = {}
        self._with: dict[str, list[int]] = {}
        for number, row in enumerate(self._rows):
            for feature in row:
                self._with.setdefault(feature, []).append(number)
        self._factor = cholesky(self._covariances())
        surprises = [
            one.difference - self._prior_mean(row)
            for one, row in zip(self._observations, self._rows, strict=True)
        ]
        self._pull = solve(self._factor, surprises)

    @property
    def features(self) -> tuple[str, ...]:
        """Names that were seen, pairs and prefixes left out, in alphabetical order."""
        return tuple(sorted(f for f in self._with if _is_name(f)))

    def effect(self, name: str) -> Estimate:
        """What one name adds by itself, with what its prefixes say about it."""
        return self.predict((name,))

    def predict(self, names: Iterable[str]) -> Estimate:
        """The difference to the baseline that these names together are expected to make."""
        features = expand(names := tuple(names))
        shared = self._shared(features)
        before = sum(self._prior.variance(feature) for feature in features)
        known = dot(shared, solve(self._factor, shared))
        return Estimate(mean=self.mean(names), deviation=math.sqrt(max(before - known, 0.0)))

    def mean(self, names: Iterable[str]) -> float:
        """The mean of `predict`, without the work for its deviation."""
        return sum(self._weight(feature) for feature in expand(names))

    def draw(
        self, seed: int, *purpose: str | int, spread: float = 1.0
    ) -> Callable[[Iterable[str]], float]:
        """One possible world, drawn from the posterior: differences by names (Thompson sampling).

        A smaller `spread` stays closer to the means; 0 gives just these. Pairs are not drawn, only
        fitted: what is explored are names, not all their companies.
        """
        weights: dict[str, float] = {}

        def before(feature: str) -> float:
            if feature not in weights:
                weights[feature] = self._prior.mean(feature)
                if spread and _PAIR not in feature:
                    chance = generator(seed, *purpose, feature).gauss(0.0, spread)
                    weights[feature] += math.sqrt(self._prior.variance(feature)) * chance
            return weights[feature]

        noise = generator(seed, *purpose, "noise")
        surprises = [
            one.difference
            - sum(before(feature) for feature in row)
            - spread * noise.gauss(0.0, math.sqrt(one.variance))
            for one, row in zip(self._observations, self._rows, strict=True)
        ]
        pull = solve(self._factor, surprises)
        after: dict[tuple[str, ...], float] = {}

        def value(names: Iterable[str]) -> float:
            total = 0.0
            for parts in _parts(names):
                if parts not in after:
                    feature = _PAIR.join(parts)
                    seen = self._with.get(feature, ())
                    learnt = self._prior.variance(feature) * sum(pull[number] for number in seen)
                    after[parts] = before(feature) + learnt
                total += after[parts]
            return total

        return value

    def _weight(self, feature: str) -> float:
        if feature not in self._weights:
            learnt = sum(self._pull[number] for number in self._with.get(feature, ()))
            weight = self._prior.mean(feature) + self._prior.variance(feature) * learnt
            self._weights[feature] = weight
        return self._weights[feature]

    def _prior_mean(self, features: Iterable[str]) -> float:
        return sum(self._prior.mean(feature) for feature in features)

    def _shared(self, features: Iterable[str]) -> list[float]:
        """Prior covariances of a candidate with each observation."""
        found = [0.0] * len(self._rows)
        for feature in features:
            seen = self._with.get(feature)
            if seen:
                variance = self._prior.variance(feature)
                for number in seen:
                    found[number] += variance
        return found

    def _covariances(self) -> list[list[float]]:
        rows = [self._shared(row) for row in self._rows]
        for number, one in enumerate(self._observations):
            rows[number][number] += max(one.variance, 1e-9 * self._prior.scale**2)
        return rows


@lru_cache(maxsize=4096)
def _prefixes(name: str) -> tuple[str, ...]:
    return tuple(name[: place + 1] for place, sign in enumerate(name) if sign == ":")


def _is_name(feature: str) -> bool:
    return _PAIR not in feature and feature != _LUCK and not feature.endswith(":")


def cholesky(matrix: Sequence[Sequence[float]]) -> Triangle:
    """The lower triangle L with L·Lᵀ = matrix, of which only the lower half is read."""
    lower: Triangle = []
    for number, row in enumerate(matrix):
        mine: list[float] = []
        for column in range(number):
            done = dot(mine, lower[column])
            mine.append((row[column] - done) / lower[column][column])
        mine.append(math.sqrt(max(row[number] - dot(mine, mine), 1e-12)))
        lower.append(mine)
    return lower


def solve(lower: Triangle, right: Sequence[float]) -> list[float]:
    """x with L·Lᵀ·x = right."""
    return back(lower, forth(lower, right))


def forth(lower: Triangle, right: Sequence[float]) -> list[float]:
    """x with L·x = right."""
    found: list[float] = []
    for number, row in enumerate(lower):
        found.append((right[number] - dot(found, row)) / row[number])
    return found


def back(lower: Triangle, right: Sequence[float]) -> list[float]:
    """x with Lᵀ·x = right."""
    found = list(right)
    for number in reversed(range(len(found))):
        found[number] /= lower[number][number]
        for above, weight in enumerate(lower[number][:number]):
            found[above] -= weight * found[number]
    return found


def dot(left: Sequence[float], right: Sequence[float]) -> float:
    """Of the shorter one's length."""
    return sum(map(mul, left, right), start=0.0)
