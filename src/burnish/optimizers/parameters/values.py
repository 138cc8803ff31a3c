"""Values out of a declared parameter space."""

from __future__ import annotations

import random

from burnish.domain import Json, ParameterSpace


def values_of(space: ParameterSpace, *, steps: int) -> list[Json]:
    """All choices, or `steps` values evenly from the low to the high end; half-open ends add one."""
    if space.choices:
        return list(space.choices)
    low, high = space.low, space.high
    if low is None or high is None:
        return [end for end in (low, high) if end is not None]
    if steps < 2 or low == high:
        return [low]
    whole = are_whole(low, high)
    found: list[Json] = []
    for step in range(steps):
        value = low + (high - low) * step / (steps - 1)
        tidy = min(max(round(value) if whole else round(value, 10), low), high)
        if tidy not in found:
            found.append(tidy)
    return found


def is_bounded(space: ParameterSpace) -> bool:
    """Whether anything is known of its values; without choices and ends nothing can be drawn."""
    return bool(space.choices) or space.low is not None or space.high is not None


def draw_value(space: ParameterSpace, generator: random.Random) -> Json:
    """One value at random of a bounded space; a half-open range gives its end."""
    if space.choices:
        return generator.choice(space.choices)
    low, high = space.low, space.high
    if low is None or high is None:
        return next(end for end in (low, high) if end is not None)
    if are_whole(low, high):
        return generator.randint(int(low), int(high))
    return min(max(round(generator.uniform(low, high), 4), low), high)


def are_whole(low: float, high: float) -> bool:
    """Whether a range counts something: 1 to 64 does, a temperature from 0 to 2 does not."""
    written = isinstance(low, int) and isinstance(high, int)
    return written and (low >= 1 or high - low >= 8)
