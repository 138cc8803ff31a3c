"""Where a backdrop is painted, with the brushes that all of them use."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from PIL import Image

from burnish.images.models.colours import Colour, mix, shade
from burnish.images.models.sketch.canvas import Canvas
from burnish.images.models.sketch.lights import Light
from burnish.images.models.sketch.pen import Ink, Pen, Point
from burnish.images.models.sketch.scene import Scene


@dataclass(frozen=True, slots=True)
class Stage:
    """A canvas with its horizon, light and luck. Coordinates are shares of the picture's side."""

    canvas: Canvas
    scene: Scene
    light: Light
    horizon: float
    luck: Random
    tint: Colour | None = None

    def pen(self) -> Pen:
        """A pen in units of the whole picture; y runs from -1 at the top to 0 at the bottom."""
        return Pen(self.canvas, 0.0, 1.0, 1.0, masked=False)

    def tinted(self, colour: Colour, share: float = 0.6) -> Colour:
        """The colour, or most of the backdrop's own colour where the prompt named one."""
        return mix(colour, self.tint, share) if self.tint else colour

    def gradient(self, top: float, bottom: float, *colours: Colour) -> None:
        """Fill from one height to another, from colour to colour."""
        big = self.canvas.big
        y0, y1 = round(top * big), round(bottom * big)
        if y1 <= y0:
            return
        strip = Image.new("RGB", (1, len(colours)))
        strip.putdata(colours)
        smooth = strip.resize((1, y1 - y0), Image.Resampling.BILINEAR)
        self.canvas.image.paste(smooth.resize((big, y1 - y0), Image.Resampling.NEAREST), (0, y0))

    def poly(self, points: list[Point], ink: Ink) -> None:
        """A polygon in shares of the picture, y from 0 at the top."""
        self.pen().poly([(x, y - 1.0) for x, y in points], ink)

    def box(self, x0: float, y0: float, x1: float, y1: float, ink: Ink, r: float = 0.0) -> None:
        """A rectangle likewise."""
        self.pen().box(x0, y0 - 1.0, x1, y1 - 1.0, ink, r)

    def oval(self, x: float, y: float, rx: float, ry: float, ink: Ink) -> None:
        """An ellipse likewise."""
        self.pen().oval(x, y - 1.0, rx, ry, ink)

    def line(self, points: list[Point], ink: Ink, width: float) -> None:
        """A line likewise."""
        self.pen().line([(x, y - 1.0) for x, y in points], ink, width)

    def tube(self, points: list[Point], ink: Colour, width: float) -> None:
        """A line of light likewise."""
        self.pen().tube([(x, y - 1.0) for x, y in points], ink, width)

    def shine(self, x: float, y: float, r: float, ink: Colour) -> None:
        """A spot of light likewise."""
        self.pen().shine(x, y - 1.0, r, ink)

    def spark(self, x: float, y: float, r: float, ink: Colour) -> None:
        """A small light that is seen itself likewise."""
        self.pen().spark(x, y - 1.0, r, ink)

    def ridge(self, base: float, rough: float, steps: int, bottom: float, ink: Ink) -> None:
        """A jagged skyline across the picture, filled down to the bottom."""
        tops = [base - self.luck.random() * rough for _ in range(steps + 1)]
        points = [(index / steps, top) for index, top in enumerate(tops)]
        self.poly([(0.0, bottom), *points, (1.0, bottom)], ink)

    def strokes(self, top: float, bottom: float, count: int, ink: Colour, long: float) -> None:
        """Short strokes, longer and further apart to the front: grass, ripples, sand."""
        for _ in range(count):
            depth = self.luck.random() ** 0.7
            x, y = self.luck.random(), top + (bottom - top) * depth
            reach = long * (0.25 + depth)
            shift = shade(ink, self.luck.uniform(-0.18, 0.18))
            self.line([(x, y), (x + reach, y)], (*shift, 150), 0.0025 + 0.003 * depth)

    def tufts(self, top: float, bottom: float, count: int, ink: Colour) -> None:
        """Blades of grass."""
        for _ in range(count):
            depth = self.luck.random() ** 0.7
            x, y = self.luck.random(), top + (bottom - top) * depth
            tall = 0.008 + 0.028 * depth
            lean = self.luck.uniform(-0.01, 0.01)
            blade = shade(ink, self.luck.uniform(-0.25, 0.2))
            self.line([(x, y), (x + lean, y - tall)], blade, 0.003 + 0.002 * depth)

    def lacks(self, *words: str) -> bool:
        """Whether the prompt doesn't want any of these to be seen."""
        return any(word in self.scene.absent for word in words)
