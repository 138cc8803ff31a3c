"""Systems of linear equations with a positive definite matrix, small enough for plain Python."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import mul

Triangle = list[list[float]]


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
