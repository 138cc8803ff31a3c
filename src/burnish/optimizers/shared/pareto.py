"""Pareto front by item: who is best at which items, and parents drawn from it."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

_CLOSE = 1e-9
_COLDEST = 0.05
# Who leads nowhere is drawn now and then, too.
_LEAST_WEIGHT = 0.1


def leads(scores: Mapping[str, Mapping[str, float]]) -> dict[str, int]:
    """On how many items nobody is better, by candidate. `scores` are by candidate and item."""
    best: dict[str, float] = {}
    for own in scores.values():
        for item, score in own.items():
            best[item] = max(best.get(item, score), score)
    return {
        candidate: sum(1 for item, score in own.items() if score >= best[item] - _CLOSE)
        for candidate, own in scores.items()
    }


def draw_leaders(
    chance: random.Random,
    led: Mapping[str, float],
    order: Sequence[str],
    *,
    temperature: float,
    count: int,
) -> list[str]:
    """Candidates by how many items they lead; a higher temperature draws more evenly.

    `order` lists them alike in every run: their ids differ.
    """
    power = 1 / max(temperature, _COLDEST)
    weights = [max(led[one], _LEAST_WEIGHT) ** power for one in order]
    return chance.choices(order, weights, k=count)
