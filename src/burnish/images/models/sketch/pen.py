"""A pen that draws in units of the thing it draws: feet at y = 0, top at y = -1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from PIL import ImageDraw

from burnish.images.models.colours import Colour, mix, shade
from burnish.images.models.sketch.canvas import Canvas

Point = tuple[float, float]
Ink = Colour | tuple[int, int, int, int]
_STEPS = 7


@dataclass(frozen=True, slots=True)
class Look:
    """How one thing looks: its colours, what it wears, and a number that decides the rest.

    `accent` is for parts that the main colour does not cover.
    """

    main: Colour
    accent: Colour
    wears: tuple[str, ...] = ()
    pick: int = 0

    @property
    def dark(self) -> Colour:
        """Where light does not reach."""
        return shade(self.main, -0.3)

    @property
    def darker(self) -> Colour:
        """Its deepest folds."""
        return shade(self.main, -0.55)

    @property
    def light(self) -> Colour:
        """Where light falls."""
        return shade(self.main, 0.35)

    @property
    def ink(self) -> Colour:
        """Fine lines."""
        return mix(shade(self.main, -0.75), (30, 26, 36), 0.6)


class Pen:
    """Draws one thing: its foot at (x, y) of the canvas in shares of its side, `height` likewise.

    A pen without a mask draws scenery, which is not lit as a thing is.
    """

    def __init__(
        self,
        canvas: Canvas,
        x: float,
        y: float,
        height: float,
        *,
        flip: bool = False,
        masked: bool = True,
    ) -> None:
        self.canvas = canvas
        self._x = x * canvas.big
        self._y = y * canvas.big
        self.unit = height * canvas.big
        self._sign = -1.0 if flip else 1.0
        self._masked = masked

    def part(self, x: float, y: float, height: float, *, flip: bool = False) -> Pen:
        """A pen for a part of the thing, placed in its units."""
        big = self.canvas.big
        px, py = self._at((x, y))
        flipped = flip != (self._sign < 0)
        size = height * self.unit / big
        return Pen(self.canvas, px / big, py / big, size, flip=flipped, masked=self._masked)

    def poly(self, points: Sequence[Point], ink: Ink) -> None:
        """A filled polygon."""
        at = [self._at(point) for point in points]
        self.canvas.paint_draw.polygon(at, fill=ink)
        if self._masked:
            self.canvas.mask_draw.polygon(at, fill=255)

    def blob(self, points: Sequence[Point], ink: Ink) -> None:
        """A filled shape whose outline runs smoothly through the points."""
        self.poly(smooth(points, closed=True), ink)

    def oval(self, x: float, y: float, rx: float, ry: float, ink: Ink) -> None:
        """A filled ellipse about (x, y)."""
        box = self._box(x - rx, y - ry, x + rx, y + ry)
        self.canvas.paint_draw.ellipse(box, fill=ink)
        if self._masked:
            self.canvas.mask_draw.ellipse(box, fill=255)

    def box(self, x0: float, y0: float, x1: float, y1: float, ink: Ink, r: float = 0.0) -> None:
        """A filled rectangle, with corners rounded by r."""
        box, radius = self._box(x0, y0, x1, y1), r * self.unit
        self.canvas.paint_draw.rounded_rectangle(box, radius, fill=ink)
        if self._masked:
            self.canvas.mask_draw.rounded_rectangle(box, radius, fill=255)

    def line(self, points: Sequence[Point], ink: Ink, width: float) -> None:
        """A line with round ends through the points."""
        at = [self._at(point) for point in points]
        wide = max(1, round(width * self.unit))
        draws: list[tuple[ImageDraw.ImageDraw, Ink | int]] = [(self.canvas.paint_draw, ink)]
        if self._masked:
            draws.append((self.canvas.mask_draw, 255))
        for draw, fill in draws:
            draw.line(at, fill=fill, width=wide, joint="curve")
            if wide > 3:
                for px, py in (at[0], at[-1]):
                    half = wide / 2 - 0.5
                    draw.ellipse((px - half, py - half, px + half, py + half), fill=fill)

    def curve(self, points: Sequence[Point], ink: Ink, width: float) -> None:
        """A line that runs smoothly through the points."""
        self.line(smooth(points, closed=False), ink, width)

    def ring(self, x: float, y: float, r: float, ink: Ink, width: float) -> None:
        """A circle's outline."""
        box, wide = self._box(x - r, y - r, x + r, y + r), max(1, round(width * self.unit))
        self.canvas.paint_draw.ellipse(box, outline=ink, width=wide)
        if self._masked:
            self.canvas.mask_draw.ellipse(box, outline=255, width=wide)

    def arc(
        self, x: float, y: float, r: float, start: float, end: float, ink: Ink, width: float
    ) -> None:
        """A piece of a circle's outline, from one angle to another in degrees."""
        if self._sign < 0:
            start, end = 180 - end, 180 - start
        box, wide = self._box(x - r, y - r, x + r, y + r), max(1, round(width * self.unit))
        self.canvas.paint_draw.arc(box, start, end, fill=ink, width=wide)
        if self._masked:
            self.canvas.mask_draw.arc(box, start, end, fill=255, width=wide)

    def shine(self, x: float, y: float, r: float, ink: Colour) -> None:
        """Light that goes out from a spot."""
        self.canvas.glow_draw.ellipse(self._spot(x, y, r), fill=ink)

    def spark(self, x: float, y: float, r: float, ink: Colour) -> None:
        """A spot of light that is seen itself, such as a star."""
        self.canvas.spark_draw.ellipse(self._spot(x, y, r), fill=ink)

    def tube(self, points: Sequence[Point], ink: Colour, width: float) -> None:
        """A line of light, such as a neon tube."""
        scale = self.canvas.scale
        at = [(x / scale, y / scale) for x, y in (self._at(point) for point in points)]
        wide = max(1, round(width * self.unit / scale))
        self.canvas.spark_draw.line(at, fill=ink, width=wide, joint="curve")

    def _spot(self, x: float, y: float, r: float) -> tuple[float, ...]:
        scale = self.canvas.scale
        px, py = (value / scale for value in self._at((x, y)))
        size = r * self.unit / scale
        return px - size, py - size, px + size, py + size

    def _at(self, point: Point) -> Point:
        return self._x + self._sign * point[0] * self.unit, self._y + point[1] * self.unit

    def _box(self, x0: float, y0: float, x1: float, y1: float) -> tuple[float, ...]:
        (ax, ay), (bx, by) = self._at((x0, y0)), self._at((x1, y1))
        return min(ax, bx), min(ay, by), max(ax, bx), max(ay, by)


@lru_cache(maxsize=2048)
def path(text: str) -> tuple[Point, ...]:
    """Points written like "0,0 .5,-1": drawings are long enough without brackets."""
    pairs = (point.split(",") for point in text.split())
    return tuple((float(x), float(y)) for x, y in pairs)


def smooth(points: Sequence[Point], *, closed: bool) -> list[Point]:
    """Points on a Catmull-Rom curve through the given ones."""
    count = len(points)
    result: list[Point] = []
    for index in range(count if closed else count - 1):
        four = [
            points[(index + step) % count if closed else min(max(index + step, 0), count - 1)]
            for step in (-1, 0, 1, 2)
        ]
        result += [_spline(four, step / _STEPS) for step in range(_STEPS)]
    return result if closed else [*result, points[-1]]


def _spline(four: Sequence[Point], t: float) -> Point:
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = four
    square, cube = t * t, t * t * t
    a, b = -0.5 * cube + square - 0.5 * t, 1.5 * cube - 2.5 * square + 1.0
    c, d = -1.5 * cube + 2.0 * square + 0.5 * t, 0.5 * cube - 0.5 * square
    return a * ax + b * bx + c * cx + d * dx, a * ay + b * by + c * cy + d * dy
