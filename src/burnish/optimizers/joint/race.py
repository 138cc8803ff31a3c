"""The race of `joint`: what each candidate is worth by the items that it ran, and how sure that is.

Items are run in blocks, in one order for all. An item's result is what the item is worth to anybody
plus what the candidate adds; both are fitted together, so candidates that ran different items can be
compared. Candidates are shrunk towards their common mean by as much as they ran few items. Where a
model tells the probabilities of labels, that of the right one counts beside whether it was said.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, pvariance

from burnish.domain import ItemResult
from burnish.optimizers.joint.calibration import likeliest, log_probabilities, weighed

_ROUNDS = 8
_LEAST_VARIANCE = 1e-4


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """A candidate in the race; its values by item, from 0 to 1."""

    id: str
    number: int
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """An estimated mean over all items, and how far off it may be."""

    mean: float
    deviation: float


def worths(entrants: Sequence[Entrant]) -> dict[str, Worth]:
    """What each is worth, by all that ran."""
    ran = [one for one in entrants if one.values]
    if not ran:
        return {}
    items = sorted({item for one in ran for item in one.values})
    level = dict.fromkeys(items, 0.0)
    added = {one.id: fmean(one.values.values()) for one in ran}
    for _ in range(_ROUNDS):
        level = {
            item: fmean([one.values[item] - added[one.id] for one in ran if item in one.values])
            for item in items
        }
        common = fmean(level.values())
        level = {item: value - common for item, value in level.items()}
        added = {
            one.id: fmean([value - level[item] for item, value in one.values.items()])
            for one in ran
        }
    return _shrunk(ran, added, _noise(ran, added, level))


def _noise(ran: Sequence[Entrant], added: Mapping[str, float], level: Mapping[str, float]) -> float:
    """The variance of one result around what was fitted."""
    rest = [
        (value - level[item] - added[one.id]) ** 2
        for one in ran
        for item, value in one.values.items()
    ]
    free = len(rest) - len(ran) - len(level) + 1
    return max(sum(rest) / max(free, len(rest) / 4), _LEAST_VARIANCE)


def _shrunk(ran: Sequence[Entrant], added: Mapping[str, float], noise: float) -> dict[str, Worth]:
    """Between a candidate's own mean and that of all, by how much candidates differ."""
    own = {one.id: noise / len(one.values) for one in ran}
    middle = fmean(added.values())
    spread = pvariance(added.values()) - fmean(own.values()) if len(ran) > 1 else 0.0
    spread = max(spread, _LEAST_VARIANCE)
    found = {}
    for one in ran:
        trust = spread / (spread + own[one.id])
        mean = middle + trust * (added[one.id] - middle)
        found[one.id] = Worth(mean=mean, deviation=math.sqrt(trust * own[one.id]))
    return found


def blocks(order: Sequence[str], size: int) -> list[tuple[str, ...]]:
    """The items, so many at a time."""
    return [tuple(order[start : start + size]) for start in range(0, len(order), size)]


def next_block(entrant: Entrant, parts: Sequence[Sequence[str]]) -> tuple[str, ...] | None:
    """The items of the first block that it has not run whole; None when it ran all."""
    for part in parts:
        missing = tuple(item for item in part if item not in entrant.values)
        if missing:
            return missing
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """Values of a candidate by item, and whether any of them knows probabilities."""

    by_item: Mapping[str, float]
    soft: bool


def item_values(
    results: Mapping[str, ItemResult],
    labels: Mapping[str, str],
    bias: Mapping[str, float] | None = None,
    *,
    foretold: bool = False,
) -> Values:
    """The mean of score and probability where both are known, else the score.

    `bias` is added to the log probabilities; `foretold` values are those that it would lead to, where
    the results came about without it.
    """
    found: dict[str, float] = {}
    soft = False
    for item, result in results.items():
        chance = probability(result, labels.get(item), bias or {})
        soft = soft or chance is not None
        score = result.score
        if foretold and chance is not None and item in labels:
            score = float(likeliest(log_probabilities(result) or {}, bias or {}) == labels[item])
        found[item] = score if chance is None else (score + chance) / 2
    return Values(by_item=found, soft=soft)


def probability(
    result: ItemResult, label: str | None, bias: Mapping[str, float] | None = None
) -> float | None:
    """How likely the right label was against the likeliest other one; None where nobody tells."""
    known = log_probabilities(result)
    if known is None or label not in known or len(known) < 2:
        return None
    told = weighed(known, bias or {})
    others = [one for name, one in told.items() if name != label]
    return 1.0 / (1.0 + math.exp(min(max(others) - told[label], 50.0)))
