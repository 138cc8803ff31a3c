"""Block effects of a `gepa` run: what each block of a text is worth, with its interval.

Every child is compared with its parent on the items that both ran. What it added and dropped explains
the difference, by a ridge regression over all such pairs. Items are often chosen because the parent
failed them, so failures and passes are weighted by how many the parent has of each.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from burnish.domain import Json
from burnish.optimizers.gepa.evidence import Evidence, Known
from burnish.optimizers.shared.blocks import Block, added, blocks_of, dropped
from burnish.optimizers.shared.gradient import cholesky, dot, solve

# A child that differs by more is another text: it says little about any one of its blocks.
_MOST_CHANGES = 12
_MOST_PAIRS = 200
_MOST_SHOWN = 20
_MOST_TEXT = 300
# Before anything is seen: how much a block may be worth, and how far items of one kind lie apart.
_PRIOR = 0.2
_SPREAD = 0.25
_NORMAL_95 = 1.96
Feature = tuple[str, tuple[str, ...], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    """A child against its parent: blocks by sign, the difference, its variance, the items."""

    signs: Mapping[Feature, int]
    difference: float
    variance: float
    items: frozenset[str]


def block_effects(evidence: Evidence, winner: Known) -> list[dict[str, Json]]:
    """What blocks are worth by the run's own pairs: the winner's first, then what others tried."""
    texts: dict[Feature, str] = {}
    pairs = [
        _pair(child, parent, texts)
        for child in evidence.known.values()
        if (parent := evidence.parent(child)) is not None
    ]
    used = sorted(
        (one for one in pairs if one.items and 0 < len(one.signs) <= _MOST_CHANGES),
        key=lambda one: -len(one.items),
    )[:_MOST_PAIRS]
    if not used:
        return []
    rows: dict[Feature, list[float]] = {}
    for number, one in enumerate(used):
        for feature, sign in one.signs.items():
            rows.setdefault(feature, [0.0] * len(used))[number] = sign
    factor = cholesky(_covariances(used))
    pull = solve(factor, [one.difference for one in used])
    means = {feature: _PRIOR**2 * dot(row, pull) for feature, row in rows.items()}
    own = {
        _feature(path, block)
        for path, text in winner.candidate.configuration.sections.items()
        for block in blocks_of(text)
    }
    shown = sorted(means, key=lambda one: (one not in own, -means[one], one))[:_MOST_SHOWN]
    return [
        {
            "section": feature[0],
            "text": texts[feature],
            "in_winner": feature in own,
            "worth": means[feature],
            "low": means[feature] - half,
            "high": means[feature] + half,
            "items": len(frozenset().union(*(p.items for p in used if feature in p.signs))),
        }
        for feature in shown
        for half in [_NORMAL_95 * _deviation(rows[feature], solve(factor, rows[feature]))]
    ]


def _pair(child: Known, parent: Known, texts: dict[Feature, str]) -> _Pair:
    before, after = (one.candidate.configuration.sections for one in (parent, child))
    signs: dict[Feature, int] = {}
    for path in before.keys() & after.keys():
        if before[path] != after[path]:
            for sign, blocks in ((1, added), (-1, dropped)):
                for block in blocks(before[path], after[path]):
                    signs[_feature(path, block)] = sign
                    texts.setdefault(_feature(path, block), block.text.strip()[:_MOST_TEXT])
    shared = frozenset(child.results.keys() & parent.results.keys())
    difference = variance = 0.0
    for weak in (True, False):
        stratum = [item for item in parent.results if parent.weak(item) is weak]
        share = len(stratum) / max(len(parent.results), 1)
        changes = [
            child.results[item].score - parent.results[item].score
            for item in stratum
            if item in shared
        ]
        mean = sum(changes) / max(len(changes), 1)
        apart = sum((change - mean) ** 2 for change in changes) + _SPREAD
        difference += share * mean
        variance += share**2 * apart / max(len(changes), 1) ** 2
    return _Pair(signs=signs, difference=difference, variance=variance, items=shared)


def _covariances(pairs: list[_Pair]) -> list[list[float]]:
    return [
        [
            _PRIOR**2 * sum(sign * other.signs.get(name, 0) for name, sign in one.signs.items())
            + (one.variance if other is one else 0.0)
            for other in pairs[: number + 1]
        ]
        for number, one in enumerate(pairs)
    ]


def _deviation(row: list[float], solved: list[float]) -> float:
    return math.sqrt(max(_PRIOR**2 - _PRIOR**4 * dot(row, solved), 0.0))


def _feature(path: str, block: Block) -> Feature:
    return path, block.path, block.text if block.is_json else block.key
