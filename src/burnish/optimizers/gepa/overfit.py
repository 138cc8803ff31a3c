"""Overfit alarm of a gepa run: a candidate that gains on training items and not on others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, variance

from burnish.optimizers.gepa.step_context import StepContext
from burnish.optimizers.shared.evidence import Known

_LEAST_ITEMS = 5
# Below, the figure says more of the test than of the items.
_LEAST_CHANCE = 1e-6
# A side on which all gains are alike has some noise nevertheless: as if half a point came on top.
_PRIOR = 0.25
# Rules that are still missing part train and validation too, so a smaller gap says nothing.
_LOST = 0.5
_LEAST_GAP = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """A candidate that rings, and what the test says."""

    number: int
    message: str

    @property
    def in_full(self) -> str:
        """With the conclusion."""
        return f"overfit alarm for candidate {self.number}: {self.message}"

    @property
    def in_short(self) -> str:
        """The figures alone, as a sentence."""
        return f"Overfit alarm: candidate {self.number}{self.message.partition(':')[0][2:]}."


def overfit(context: StepContext) -> Alarm | None:
    """The alarm of the best trial, else of the latest one."""
    tried = [one for one in context.evidence.trialed if one is not context.evidence.baseline]
    if not tried or not context.items.train:
        return None
    best = max(tried, key=lambda one: (one.trial_score or 0.0, -one.candidate.number))
    for one in dict.fromkeys([best.candidate.id, tried[-1].candidate.id]):
        message = _rings(context, context.evidence.known[one])
        if message is not None:
            return Alarm(number=context.evidence.known[one].candidate.number, message=message)
    return None


def _rings(context: StepContext, one: Known) -> str | None:
    train = frozenset(context.items.train)
    baseline = context.evidence.baseline.results
    scores = {item: result.score for item, result in one.results.items() if item not in train}
    before = {item: result.score for item, result in baseline.items()}
    gained = paired_gains(_train_scores(context, one), before)
    if not gained:
        return None
    gap = max(_LEAST_GAP, _LOST * fmean(gained))
    return overfit_alarm(gained, paired_gains(scores, before), least_gap=gap)


def _train_scores(context: StepContext, one: Known) -> dict[str, float]:
    """Its own scores; else those of the lines that it was joined from; else its ancestors'."""
    joined = context.mended_by_lines(one)
    found: dict[str, float] = {}
    for item in context.items.train:
        last = context.evidence.last_result(one.candidate.id, item)
        if item in one.results:
            found[item] = one.results[item].score
        elif item in joined:
            found[item] = joined[item].score
        elif last is not None:
            found[item] = last.score
    return found


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
