"""Parts of charts: axes with round ticks, and marks of which all of a kind are one path."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
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


Point = tuple[float, float, int]
"""Where a mark stands, and the number of its candidate."""

_FEW, _SOME = 150, 1_000
WORDS = {
    "completed": "completed",
    "pruned": "ended early, scored on fewer items",
    "failed": "failed, without a score",
}


def mark_size(number: int) -> float:
    """Half the width of a mark: the more there are, the smaller."""
    return 4.0 if number <= _FEW else 3.0 if number <= _SOME else 1.75


def marks(kind: str, points: Iterable[Point], size: float, *, lit: bool = False) -> str:
    """One path for all points: dots, hollow diamonds or crosses."""
    if kind == "completed":
        shape = "h0"
    elif kind == "pruned":
        shape = f"m-{size:g} 0l{size:g}-{size:g} {size:g} {size:g}-{size:g} {size:g}z"
    else:
        across = 2 * size
        shape = f"m-{size:g}-{size:g}l{across:g} {across:g}m0-{across:g}l-{across:g} {across:g}"
    path = "".join(f"M{x:g} {y:g}{shape}" for x, y, _ in points)
    width = f' stroke-width="{2 * size:g}"' if kind == "completed" else ""
    classes = f"mark {kind} lit" if lit else f"mark {kind}"
    return f'<path class="{classes}"{width} d="{path}"/>\n' if path else ""


def ring(kind: str, point: Point) -> str:
    """A mark around one point."""
    return f'<circle class="ring {kind}" cx="{point[0]:g}" cy="{point[1]:g}" r="8"/>\n'


def legend(entries: Mapping[str, str]) -> str:
    """What the marks mean; the drawings are of the same classes as those in the chart."""
    shapes = {
        "completed": marks("completed", [(9, 8, 0)], 4),
        "pruned": marks("pruned", [(9, 8, 0)], 4),
        "failed": marks("failed", [(9, 8, 0)], 4),
        "best-line": '<path class="best-line" d="M1 12H9V4H17"/>',
        "baseline-line": '<path class="baseline-line" d="M1 8H17"/>',
        "front-line": '<path class="front-line" d="M1 12H9V4H17"/>',
        "ring best": '<circle class="ring best" cx="9" cy="8" r="6"/>',
        "ring baseline": '<circle class="ring baseline" cx="9" cy="8" r="6"/>',
    }
    items = "".join(
        f'<li><svg width="18" height="16" viewBox="0 0 18 16" aria-hidden="true">{shapes[kind]}</svg>'
        f"{words}</li>"
        for kind, words in entries.items()
    )
    return f'<ul class="legend">{items}</ul>\n'


def picture(name: str, title: str, description: str, size: tuple[float, float], body: str) -> str:
    """A chart that says in words what it shows."""
    width, height = size
    return (
        f'<div class="chart" tabindex="0" role="region" aria-label="{title}">'
        f'<svg id="{name}" role="img" aria-labelledby="{name}-t {name}-d" '
        f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}">'
        f'<title id="{name}-t">{title}</title><desc id="{name}-d">{description}</desc>\n'
        f"{body}</svg></div>\n"
    )
