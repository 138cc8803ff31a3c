"""Pairwise results: win rates with intervals, and Bradley–Terry strengths of many."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from burnish.domain import UsageError
from burnish.evaluation.statistics import Interval, paired_permutation_test, score_interval

_TIE = 0.5
_ROUNDS = 10_000
_SETTLED = 1e-10
# Each pair that met gets one tie more: without it whoever won all would be infinitely strong.
_PRIOR = 1.0
# Half a row that is wholly wrong.
_UNSEEN = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class WinRate:
    """How often outputs were better than others, a tie as half; `p_value` is against 0.5."""

    name: str
    items: int
    win_rate: float
    interval: Interval
    wins: int
    losses: int
    ties: int
    p_value: float

    @classmethod
    def of(cls, name: str, by_item: Mapping[str, Sequence[float]]) -> WinRate | None:
        """Of the scores of a pairwise judge by item; repeats of an item are one value, their mean."""
        values = [math.fsum(scores) / len(scores) for scores in by_item.values() if scores]
        if not values:
            return None
        return cls(
            name=name,
            items=len(values),
            win_rate=math.fsum(values) / len(values),
            interval=score_interval(values),
            wins=sum(value > _TIE for value in values),
            losses=sum(value < _TIE for value in values),
            ties=sum(value == _TIE for value in values),
            p_value=paired_permutation_test([_TIE] * len(values), values, seed=0).p_value,
        )

    def to_json(self) -> dict[str, Any]:
        """By name."""
        return {
            "name": self.name,
            "items": self.items,
            "win_rate": self.win_rate,
            "interval": [self.interval.low, self.interval.high],
            "wins": self.wins,
            "losses": self.losses,
            "ties": self.ties,
            "p_value": self.p_value,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Strength:
    """How strong one of many is: the chance that it beats one of average strength, with an interval.

    `log_strength` is on the scale of logits, with a mean of 0 over all.
    """

    name: str
    log_strength: float
    standard_error: float
    win_rate: float
    interval: Interval

    def to_json(self) -> dict[str, Any]:
        """By name."""
        return {
            "name": self.name,
            "log_strength": self.log_strength,
            "standard_error": self.standard_error,
            "win_rate": self.win_rate,
            "interval": [self.interval.low, self.interval.high],
        }


def bradley_terry(
    results: Mapping[tuple[str, str], Sequence[float]], *, confidence: float = 0.95
) -> list[Strength]:
    """Strengths by the model of Bradley and Terry, the strongest first.

    `results` are the scores of the first against the second of each pair, from 0 to 1 with 0.5 for a
    tie, one an item. Strengths are found by minorization (Hunter 2004); their errors come from the
    spread of the scores themselves, so a tie, which says more than a toss, counts as what it is.
    """
    names = sorted({name for pair in results for name in pair})
    if len(names) < 2 or not any(results.values()):
        raise UsageError(
            what="no strengths can be told",
            why="there are not two that were compared",
            fix="compare at least two on some items",
            code="nothing_in_common",
        )
    place = {name: number for number, name in enumerate(names)}
    games = [
        (place[one], place[other], scores)
        for (one, other), scores in results.items()
        if one != other and scores
    ]
    _require_connected(names, games)
    logs = _fitted(len(names), games)
    errors = _standard_errors(logs, games)
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    found = [
        Strength(
            name=name,
            log_strength=logs[number],
            standard_error=errors[number],
            win_rate=_chance(logs[number]),
            interval=Interval(
                _chance(logs[number] - z * errors[number]),
                _chance(logs[number] + z * errors[number]),
                confidence,
            ),
        )
        for name, number in place.items()
    ]
    return sorted(found, key=lambda one: (-one.log_strength, one.name))


_Games = Sequence[tuple[int, int, Sequence[float]]]


def _require_connected(names: Sequence[str], games: _Games) -> None:
    """Strengths of two groups that never met cannot be compared."""
    reached, left = {0}, True
    while left:
        more = {b for a, b, _ in games if a in reached} | {a for a, b, _ in games if b in reached}
        left = not more <= reached
        reached |= more
    if len(reached) < len(names):
        apart = next(name for number, name in enumerate(names) if number not in reached)
        raise UsageError(
            what="no strengths can be told",
            why=f"{apart} was compared with none of those that {names[0]} was compared with",
            fix="compare each with at least one of the others",
            code="nothing_in_common",
        )


def _fitted(many: int, games: _Games) -> list[float]:
    won = [0.0] * many
    met: dict[tuple[int, int], float] = {}
    for a, b, scores in games:
        won[a] += math.fsum(scores) + _PRIOR / 2
        won[b] += len(scores) - math.fsum(scores) + _PRIOR / 2
        met[a, b] = met.get((a, b), 0.0) + len(scores) + _PRIOR
    strengths = [1.0] * many
    for _ in range(_ROUNDS):
        weights = [0.0] * many
        for (a, b), number in met.items():
            share = number / (strengths[a] + strengths[b])
            weights[a] += share
            weights[b] += share
        updated = [one / weight for one, weight in zip(won, weights, strict=True)]
        middle = math.exp(math.fsum(map(math.log, updated)) / many)
        updated = [one / middle for one in updated]
        moved = max(abs(math.log(b / a)) for a, b in zip(strengths, updated, strict=True))
        strengths = updated
        if moved < _SETTLED:
            break
    return [math.log(one) for one in strengths]


def _standard_errors(logs: Sequence[float], games: _Games) -> list[float]:
    """By the sandwich of the curvature and the spread of the scores, with strengths that sum to 0."""
    many = len(logs)
    curve = [[1.0 / many] * many for _ in range(many)]
    meat = [[0.0] * many for _ in range(many)]
    for a, b, scores in games:
        chance = _chance(logs[a] - logs[b])
        # More than there was, so that equal scores do not leave no error.
        spread = math.fsum((score - chance) ** 2 for score in scores) + _UNSEEN
        for matrix, amount in (
            (curve, (len(scores) + _PRIOR) * chance * (1 - chance)),
            (meat, spread),
        ):
            for row, column, sign in ((a, a, 1), (b, b, 1), (a, b, -1), (b, a, -1)):
                matrix[row][column] += sign * amount
    inverse = _inverted(curve)
    return [
        math.sqrt(
            max(
                math.fsum(
                    inverse[one][i] * meat[i][j] * inverse[j][one]
                    for i in range(many)
                    for j in range(many)
                ),
                0.0,
            )
        )
        for one in range(many)
    ]


def _inverted(matrix: Sequence[Sequence[float]]) -> list[list[float]]:
    """By Gauss and Jordan, with the largest pivot."""
    size = len(matrix)
    rows = [
        [*row, *(float(number == column) for column in range(size))]
        for number, row in enumerate(matrix)
    ]
    for column in range(size):
        pivot = max(range(column, size), key=lambda row: abs(rows[row][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        scale = rows[column][column]
        rows[column] = [value / scale for value in rows[column]]
        for row in range(size):
            factor = rows[row][column]
            if row != column and factor:
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[column], strict=True)]
    return [row[size:] for row in rows]


def _chance(logit: float) -> float:
    return 1 / (1 + math.exp(-logit)) if logit > -700 else 0.0
