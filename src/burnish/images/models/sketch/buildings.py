"""Buildings and their parts."""

from __future__ import annotations

from math import cos, pi, sin

from burnish.images.models.colours import shade
from burnish.images.models.sketch.pen import Look, Pen, path

_LIT = (255, 224, 140)
_WOOD = (124, 84, 52)


def house(pen: Pen, look: Look) -> None:
    """A house with a gabled roof."""
    pen.box(0.24, -0.98, 0.36, -0.7, shade(look.accent, -0.2))
    pen.box(-0.5, -0.58, 0.5, 0, look.main)
    pen.poly(path(".2,-.58 .5,-.58 .5,0 .2,0"), (*look.darker, 50))
    pen.poly(path("-.62,-.54 0,-1 .62,-.54"), look.accent)
    pen.poly(path("0,-1 .62,-.54 .44,-.54 0,-.9"), shade(look.accent, -0.25))
    for row in range(3):
        y = -0.62 - row * 0.1
        pen.line([(-0.5 + row * 0.14, y), (0.5 - row * 0.14, y)], shade(look.accent, -0.2), 0.012)
    pen.box(-0.1, -0.34, 0.1, 0, _WOOD, 0.02)
    pen.oval(0.06, -0.17, 0.016, 0.016, (236, 196, 84))
    for x in (-0.33, 0.33):
        _pane(pen, x, -0.32, 0.1, 0.11)
    pen.oval(0, -0.7, 0.075, 0.075, _LIT)
    pen.ring(0, -0.7, 0.075, (250, 246, 240), 0.016)
    pen.shine(0, -0.7, 0.05, (130, 100, 40))


def castle(pen: Pen, look: Look) -> None:
    """A castle with towers and flags."""
    for x, top, wide in ((-0.52, -0.74, 0.14), (0.52, -0.74, 0.14), (0.0, -0.84, 0.16)):
        pen.box(x - wide, top, x + wide, 0, look.dark if x else look.main)
        pen.box(x + wide * 0.3, top, x + wide, 0, (*look.darker, 70))
        for tooth in range(3):
            left = x - wide * 1.12 + tooth * wide * 0.84
            pen.box(left, top - 0.07, left + wide * 0.55, top + 0.02, look.dark if x else look.main)
        pen.poly(
            [(x - wide * 1.1, top - 0.05), (x, top - 0.26), (x + wide * 1.1, top - 0.05)],
            look.accent,
        )
        pen.line([(x, top - 0.24), (x, top - 0.34)], (84, 72, 64), 0.012)
        pen.poly([(x, top - 0.34), (x + 0.12, top - 0.31), (x, top - 0.28)], (228, 64, 56))
        pen.box(x - 0.03, top + 0.12, x + 0.03, top + 0.24, _LIT, 0.03)
        pen.shine(x, top + 0.18, 0.03, (150, 112, 44))
    pen.box(-0.42, -0.44, 0.42, 0, look.main)
    for tooth in range(6):
        pen.box(-0.42 + tooth * 0.15, -0.51, -0.34 + tooth * 0.15, -0.43, look.main)
    for row in range(4):
        for column in range(5):
            x = -0.38 + column * 0.17 + (row % 2) * 0.06
            pen.box(x, -0.39 + row * 0.1, x + 0.09, -0.355 + row * 0.1, (*look.dark, 90))
    pen.blob(path("-.11,0 -.11,-.2 0,-.28 .11,-.2 .11,0"), shade(_WOOD, -0.4))


def lighthouse(pen: Pen, look: Look) -> None:
    """A striped lighthouse with its beam."""
    pen.poly(path("-.15,0 -.1,-.76 .1,-.76 .15,0"), (246, 246, 242))
    for index in range(3):
        y = -0.12 - index * 0.24
        low, high = 0.15 + y * 0.066, 0.15 + (y - 0.12) * 0.066
        pen.poly([(-low, y), (low, y), (high, y - 0.12), (-high, y - 0.12)], look.main)
    pen.poly(path(".05,-.76 .1,-.76 .15,0 .07,0"), (*look.darker, 60))
    pen.box(-0.14, -0.8, 0.14, -0.755, (60, 64, 76))
    pen.box(-0.08, -0.92, 0.08, -0.8, (255, 240, 170))
    pen.shine(0, -0.86, 0.1, (200, 180, 90))
    pen.poly([(-0.12, -0.91), (0, -1.0), (0.12, -0.91)], look.main)
    pen.box(-0.04, -0.14, 0.04, 0, _WOOD, 0.02)


def tower(pen: Pen, look: Look) -> None:
    """A skyscraper."""
    pen.box(-0.17, -0.88, 0.17, 0, look.main)
    pen.box(0.05, -0.88, 0.17, 0, (*look.darker, 80))
    pen.box(-0.1, -0.95, 0.1, -0.87, look.dark)
    pen.line([(0, -0.95), (0, -1.0)], look.darker, 0.012)
    for row in range(14):
        for column in range(4):
            lit = (row * 7 + column * 5 + look.pick) % 3 != 0
            x, y = -0.145 + column * 0.075, -0.84 + row * 0.06
            pen.box(x, y, x + 0.05, y + 0.035, _LIT if lit else look.darker)


def windmill(pen: Pen, look: Look) -> None:
    """A windmill with four sails."""
    pen.poly(path("-.24,0 -.15,-.62 .15,-.62 .24,0"), look.main)
    pen.poly(path(".05,-.62 .15,-.62 .24,0 .08,0"), (*look.darker, 70))
    pen.blob(path("-.18,-.6 -.12,-.74 0,-.8 .12,-.74 .18,-.6"), look.accent)
    pen.box(-0.06, -0.16, 0.06, 0, _WOOD, 0.03)
    pen.box(-0.04, -0.42, 0.04, -0.32, _LIT, 0.01)
    for turn in range(4):
        angle = 0.5 + turn * pi / 2
        x, y = cos(angle), sin(angle)
        pen.line([(0, -0.64), (0.38 * x, -0.64 + 0.38 * y)], _WOOD, 0.02)
        near, far = (0.1 * x, -0.64 + 0.1 * y), (0.38 * x, -0.64 + 0.38 * y)
        side = (-0.09 * y, 0.09 * x)
        sail = [
            near,
            far,
            (far[0] + side[0], far[1] + side[1]),
            (near[0] + side[0], near[1] + side[1]),
        ]
        pen.poly(sail, (244, 240, 230))
    pen.oval(0, -0.64, 0.03, 0.03, look.darker)


def door(pen: Pen, look: Look) -> None:
    """A panelled door in its frame, with the wall's step."""
    pen.box(-0.34, -1.0, 0.34, 0, (236, 228, 214), 0.01)
    pen.box(-0.28, -0.95, 0.28, 0, look.main, 0.01)
    for y0, y1 in ((-0.88, -0.56), (-0.48, -0.1)):
        for x0, x1 in ((-0.22, -0.03), (0.03, 0.22)):
            pen.box(x0, y0, x1, y1, look.dark, 0.01)
            pen.box(x0 + 0.02, y0 + 0.025, x1, y1, look.light, 0.01)
            pen.box(x0 + 0.02, y0 + 0.025, x1 - 0.015, y1 - 0.02, look.main, 0.01)
    pen.oval(0.23, -0.5, 0.026, 0.026, (236, 196, 84))
    pen.box(-0.42, -0.03, 0.42, 0.02, (176, 168, 158))


def window(pen: Pen, look: Look) -> None:
    """A window with light behind it."""
    pen.box(-0.4, -1, 0.4, 0, look.main, 0.02)
    for x in (-0.18, 0.18):
        for y in (-0.74, -0.27):
            pen.box(x - 0.155, y - 0.2, x + 0.155, y + 0.2, (190, 222, 240))
            pen.poly(
                [(x - 0.12, y + 0.2), (x + 0.02, y - 0.2), (x + 0.1, y - 0.2), (x - 0.04, y + 0.2)],
                (255, 255, 255, 120),
            )
    pen.box(-0.46, -0.05, 0.46, 0, look.dark, 0.01)


def tent(pen: Pen, look: Look) -> None:
    """A tent that is open in front."""
    pen.poly(path("-.7,0 0,-.9 .7,0"), look.main)
    pen.poly(path("0,-.9 .7,0 .34,0"), look.dark)
    pen.poly(path("-.22,0 0,-.62 .2,0"), (48, 40, 44))
    pen.poly(path("-.22,0 0,-.62 -.06,0"), look.light)
    pen.line([(0, -0.9), (0, -0.98)], _WOOD, 0.02)


def bench(pen: Pen, look: Look) -> None:
    """A park bench."""
    for x in (-0.6, 0.6):
        pen.line([(x, -0.42), (x, 0)], (56, 58, 64), 0.06)
        pen.line([(x, -0.42), (x + 0.03, -0.95)], (56, 58, 64), 0.05)
    for index in range(3):
        pen.box(-0.8, -0.95 + index * 0.15, 0.8, -0.85 + index * 0.15, look.main, 0.02)
    pen.box(-0.84, -0.47, 0.84, -0.37, look.dark, 0.02)


def _pane(pen: Pen, x: float, y: float, wide: float, tall: float) -> None:
    pen.box(x - wide - 0.02, y - tall - 0.02, x + wide + 0.02, y + tall + 0.02, (250, 246, 240))
    pen.box(x - wide, y - tall, x + wide, y + tall, _LIT)
    pen.line([(x, y - tall), (x, y + tall)], (250, 246, 240), 0.015)
    pen.line([(x - wide, y), (x + wide, y)], (250, 246, 240), 0.015)
    pen.shine(x, y, wide * 0.9, (150, 112, 44))
