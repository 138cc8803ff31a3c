"""What hangs in the sky, and shapes for words that nobody taught the sketch."""

from __future__ import annotations

from math import cos, pi, sin

from burnish.images.models.colours import mix, shade
from burnish.images.models.sketch.pen import Look, Pen, path


def sun(pen: Pen, look: Look) -> None:
    """The sun with its rays."""
    for index in range(12):
        angle = index * pi / 6
        near, far = (0.34, 0.49) if index % 2 else (0.34, 0.45)
        ends = [
            (near * cos(angle), -0.5 + near * sin(angle)),
            (far * cos(angle), -0.5 + far * sin(angle)),
        ]
        pen.line(ends, (*look.light, 200), 0.03)
    pen.oval(0, -0.5, 0.29, 0.29, look.main)
    pen.oval(-0.05, -0.55, 0.19, 0.19, (*look.light, 150))
    pen.shine(0, -0.5, 0.32, (70, 50, 20))


def moon(pen: Pen, look: Look) -> None:
    """A full moon with craters, or a crescent."""
    pen.oval(0, -0.5, 0.42, 0.42, look.main)
    for x, y, r in (
        (-0.15, -0.62, 0.09),
        (0.12, -0.4, 0.12),
        (0.16, -0.68, 0.05),
        (-0.14, -0.32, 0.06),
    ):
        pen.oval(x, y, r, r * 0.92, (*look.dark, 110))
    pen.shine(0, -0.5, 0.4, (48, 48, 56))


def star(pen: Pen, look: Look) -> None:
    """A five-pointed star."""
    points = []
    for index in range(10):
        angle, r = -pi / 2 + index * pi / 5, 0.46 if index % 2 == 0 else 0.19
        points.append((r * cos(angle), -0.5 + r * sin(angle)))
    pen.poly(points, look.main)
    for index in range(0, 10, 2):
        pen.poly([points[index], points[(index + 1) % 10], (0, -0.5)], (*look.dark, 110))
    pen.shine(0, -0.5, 0.3, shade(look.main, -0.75))


def planet(pen: Pen, look: Look) -> None:
    """A banded planet with a ring."""
    pen.oval(0, -0.5, 0.36, 0.36, look.main)
    for y, wide, ink in (
        (-0.66, 0.29, look.light),
        (-0.52, 0.35, look.dark),
        (-0.38, 0.32, look.light),
    ):
        pen.oval(0, y, wide, 0.035, (*ink, 190))
    pen.blob(path(".05,-.86 .36,-.5 .05,-.14 .2,-.5"), (*look.darker, 120))
    pen.curve(path("-.34,-.44 -.6,-.34 -.5,-.28 0,-.4 .5,-.58 .6,-.68 .34,-.6"), look.accent, 0.035)


def cloud(pen: Pen, look: Look) -> None:
    """A heap of cloud."""
    heaps = ((-0.5, -0.3, 0.26), (-0.18, -0.52, 0.36), (0.24, -0.48, 0.32), (0.54, -0.28, 0.24))
    for x, y, r in heaps:
        pen.oval(x, y + 0.06, r, r * 0.9, shade(look.main, -0.14))
    pen.box(-0.7, -0.3, 0.74, -0.02, shade(look.main, -0.14), 0.13)
    for x, y, r in heaps:
        pen.oval(x - 0.02, y - 0.02, r * 0.9, r * 0.78, look.main)


def rainbow(pen: Pen, look: Look) -> None:
    """Seven colours in an arc."""
    colours = (
        (224, 60, 60),
        (240, 140, 48),
        (248, 216, 72),
        (88, 184, 88),
        (64, 140, 220),
        (92, 76, 180),
        (160, 88, 188),
    )
    for index, colour in enumerate(colours):
        pen.arc(0, 0, 1.0 - index * 0.05, 180, 360, (*colour, 170), 0.055)


def lightning(pen: Pen, look: Look) -> None:
    """A bolt."""
    pen.poly(path(".1,-1 -.22,-.46 -.02,-.48 -.14,0 .26,-.62 .05,-.58 .28,-1"), look.main)
    pen.shine(0, -0.5, 0.3, (150, 150, 90))


def unknown(pen: Pen, look: Look) -> None:
    """An abstract figure that its word's number alone decides: the same word, the same figure."""
    corners, spin = 3 + look.pick % 6, (look.pick >> 3) % 7 * 0.3
    dented = (look.pick >> 6) % 3
    points = []
    for index in range(corners * 2):
        angle = spin + index * pi / corners
        r = 0.48 * (1.0 if index % 2 == 0 else (0.96, 0.66, 0.42)[dented])
        points.append((r * cos(angle), -0.5 + r * sin(angle)))
    (pen.blob if (look.pick >> 8) % 2 else pen.poly)(points, look.main)
    inner = [(x * 0.62, -0.5 + (y + 0.5) * 0.62) for x, y in points]
    (pen.poly if (look.pick >> 9) % 2 else pen.blob)(inner, look.accent)
    pen.oval(0, -0.5, 0.14, 0.14, mix(look.main, (255, 255, 255), 0.5))
    for index in range(2 + (look.pick >> 10) % 4):
        angle = spin + index * 2.1
        pen.oval(0.3 * cos(angle), -0.5 + 0.3 * sin(angle), 0.045, 0.045, look.darker)
    # A plate below, as an exhibit has one.
    pen.box(-0.2, -0.03, 0.2, 0.0, look.darker, 0.01)
