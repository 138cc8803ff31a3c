"""Axes of charts: round numbers for ticks, and pixels for values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_ROUND_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class Axis:
    """From `low` at the pixel `start` to `high` at the pixel `end`."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]

    def at(self, value: float) -> float:
        """The pixel of a value."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


@dataclass(frozen=True, slots=True)
class Frame:
    """The drawing area of a chart with its two axes."""

    x: Axis
    y: Axis
    width: float
    height: float

    def drawn(self, x_label: str, y_label: str) -> str:
        """Grid, tick labels and the names of the axes."""
        left, right, bottom = self.x.start, self.x.end, self.y.start
        lines = [
            f'<path class="grid" d="M{left:g} {self.y.at(tick):.1f}H{right:g}"/>'
            f'<text class="tick" x="{left - 13:g}" y="{self.y.at(tick) + 4:.1f}" '
            f'text-anchor="end">{tick:g}</text>'
            for tick in self.y.ticks
        ]
        lines += [
            f'<text class="tick" x="{self.x.at(tick):.1f}" y="{bottom + 18:g}" '
            f'text-anchor="middle">{tick:,.10g}</text>'
            for tick in self.x.ticks
        ]
        middle = (left + right) / 2
        lines.append(
            f'<text class="axis" x="{middle:g}" y="{bottom + 38:g}" text-anchor="middle">'
            f"{x_label}</text>"
            f'<text class="axis" x="{left - 8:g}" y="14" text-anchor="end">{y_label}</text>'
        )
        return "".join(lines) + "\n"


def frame(
    xs: Sequence[float],
    scores: Sequence[float],
    *,
    whole: bool = True,
    width: float = 760,
    height: float = 320,
) -> Frame:
    """A frame for (whole) numbers across and scores upwards."""
    return Frame(
        x=_axis(xs, start=56, end=width - 18, whole=whole),
        y=_axis(scores, start=height - 46, end=28),
        width=width,
        height=height,
    )


def _axis(values: Sequence[float], *, start: float, end: float, whole: bool = False) -> Axis:
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    unit = not whole and low >= 0 and high <= 1
    if high - low < 1e-9:
        pad = max(1.0, abs(low) * 0.1) if whole else max(0.1, abs(low) * 0.1)
        low, high = low - pad, high + pad
    if whole:
        low = max(0.0, low)
    if unit:
        low, high = max(0.0, low), min(1.0, high)
    step = _round_step((high - low) / 5, whole=whole)
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    ticks = tuple(round(number * step, 10) for number in range(first, last + 1))
    return Axis(ticks[0], ticks[-1], start, end, ticks)


def _round_step(rough: float, *, whole: bool) -> float:
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * one for one in _ROUND_STEPS if size * one >= rough * (1 - 1e-9))
    return max(1.0, round(step)) if whole else step
