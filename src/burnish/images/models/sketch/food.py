"""Things to eat."""

from __future__ import annotations

from math import cos, pi, sin

from burnish.images.models.colours import shade
from burnish.images.models.sketch.pen import Look, Pen, path

_LEAF = (84, 156, 72)
_STALK = (104, 72, 44)


def apple(pen: Pen, look: Look) -> None:
    """An apple with its leaf."""
    pen.blob(
        path(
            "0,-.8 -.2,-.87 -.4,-.72 -.43,-.42 -.3,-.1 -.1,0 0,-.03 .1,0 .3,-.1 .43,-.42 "
            ".4,-.72 .2,-.87"
        ),
        look.main,
    )
    pen.blob(path(".12,-.84 .4,-.72 .43,-.42 .3,-.1 .1,0 .26,-.4"), (*look.darker, 110))
    pen.oval(-0.2, -0.62, 0.085, 0.13, (255, 255, 255, 110))
    pen.oval(0, -0.8, 0.11, 0.04, look.dark)
    pen.curve([(0, -0.8), (0.01, -0.9), (0.06, -1.0)], _STALK, 0.035)
    pen.blob(path(".03,-.88 .14,-.99 .32,-.97 .2,-.86"), _LEAF)


def fruit(pen: Pen, look: Look) -> None:
    """A round fruit."""
    pen.oval(0, -0.44, 0.43, 0.43, look.main)
    pen.blob(path(".16,-.84 .42,-.5 .3,-.1 .05,-.01 .24,-.4"), (*look.darker, 90))
    pen.oval(-0.16, -0.62, 0.1, 0.08, (255, 255, 255, 120))
    for index in range(7):
        angle = index * 0.9
        pen.oval(0.26 * cos(angle), -0.42 + 0.26 * sin(angle), 0.012, 0.012, look.dark)
    pen.blob(path("0,-.86 .1,-1 .28,-.96 .16,-.86"), _LEAF)


def lemon(pen: Pen, look: Look) -> None:
    """A lemon on its side."""
    pen.blob(path("-.56,-.4 -.4,-.66 0,-.78 .4,-.66 .56,-.42 .4,-.14 0,-.02 -.4,-.14"), look.main)
    pen.blob(path("-.2,-.08 .2,-.18 .52,-.42 .4,-.14 0,-.02"), (*look.darker, 90))
    pen.oval(-0.18, -0.56, 0.12, 0.06, (255, 255, 255, 130))


def banana(pen: Pen, look: Look) -> None:
    """A banana."""
    pen.blob(
        path(
            "-.62,-.72 -.5,-.3 -.1,-.04 .4,-.06 .66,-.3 .6,-.38 .36,-.26 0,-.28 -.32,-.46 -.5,-.76"
        ),
        look.main,
    )
    pen.curve(path("-.55,-.66 -.36,-.3 0,-.14 .4,-.16 .62,-.33"), look.dark, 0.02)
    pen.box(-0.62, -0.82, -0.5, -0.7, _STALK, 0.02)
    pen.oval(0.63, -0.34, 0.04, 0.04, _STALK)


def pear(pen: Pen, look: Look) -> None:
    """A pear."""
    pen.blob(
        path(
            "0,-.9 -.14,-.82 -.18,-.58 -.36,-.34 -.32,-.08 0,0 .32,-.08 .36,-.34 .18,-.58 .14,-.82"
        ),
        look.main,
    )
    pen.blob(path(".06,-.88 .14,-.82 .18,-.58 .36,-.34 .32,-.08 .06,0 .18,-.3"), (*look.darker, 90))
    pen.oval(-0.14, -0.34, 0.07, 0.12, (255, 255, 255, 110))
    pen.curve([(0, -0.88), (0.03, -1.0)], _STALK, 0.03)


def cherry(pen: Pen, look: Look) -> None:
    """Two cherries on one stalk."""
    for x, ink in ((-0.24, look.main), (0.24, look.dark)):
        pen.curve([(x, -0.44), (x * 0.5, -0.75), (0.04, -0.98)], (96, 132, 60), 0.025)
        pen.oval(x, -0.23, 0.23, 0.23, ink)
        pen.oval(x - 0.08, -0.32, 0.06, 0.05, (255, 255, 255, 150))
    pen.blob(path(".04,-.98 .2,-1 .36,-.88 .18,-.86"), _LEAF)


def cake(pen: Pen, look: Look) -> None:
    """A layer cake with candles."""
    pen.oval(0, -0.03, 0.7, 0.07, (226, 228, 234))
    for y, ink in ((-0.24, (172, 116, 68)), (-0.4, (250, 240, 220)), (-0.5, look.main)):
        pen.box(-0.55, y, 0.55, -0.04 if ink == (172, 116, 68) else y + 0.18, ink, 0.02)
    pen.oval(0, -0.5, 0.55, 0.1, look.light)
    for index in range(7):
        x = -0.5 + index * 0.166
        pen.box(x - 0.04, -0.5, x + 0.04, -0.36 - 0.06 * (index % 2), look.light, 0.04)
    for x in (-0.25, 0.0, 0.25):
        pen.box(x - 0.025, -0.8, x + 0.025, -0.52, (110, 172, 220))
        pen.blob([(x - 0.03, -0.82), (x, -0.95), (x + 0.03, -0.82)], (255, 196, 64))
        pen.shine(x, -0.87, 0.05, (130, 90, 20))


def burger(pen: Pen, look: Look) -> None:
    """A hamburger."""
    pen.box(-0.6, -0.2, 0.6, 0, (220, 156, 80), 0.09)
    pen.box(-0.64, -0.36, 0.64, -0.18, (108, 64, 40), 0.07)
    pen.poly(path("-.62,-.38 .62,-.38 .3,-.28 .1,-.36 -.2,-.24"), (250, 196, 60))
    for index in range(8):
        pen.oval(
            -0.56 + index * 0.16, -0.42, 0.1, 0.05, (112, 184, 72) if index % 2 else (88, 160, 60)
        )
    pen.box(-0.58, -0.52, 0.58, -0.44, (212, 60, 52), 0.03)
    pen.blob(path("-.62,-.5 -.56,-.8 0,-.98 .56,-.8 .62,-.5"), (228, 164, 84))
    pen.blob(path(".2,-.5 .62,-.5 .56,-.8 .3,-.92"), (160, 96, 44, 80))
    for x, y in (
        (-0.3, -0.76),
        (-0.1, -0.86),
        (0.12, -0.8),
        (0.3, -0.72),
        (-0.02, -0.7),
        (-0.4, -0.64),
    ):
        pen.oval(x, y, 0.035, 0.022, (252, 240, 208))


def pizza(pen: Pen, look: Look) -> None:
    """A pizza from above."""
    pen.oval(0, -0.5, 0.5, 0.5, (206, 144, 76))
    pen.oval(0, -0.5, 0.43, 0.43, (208, 72, 44))
    pen.oval(0, -0.5, 0.41, 0.41, (250, 208, 112))
    for index in range(8):
        angle, r = index * pi / 4, 0.27 if index % 2 else 0.18
        x, y = r * cos(angle), -0.5 + r * sin(angle)
        pen.oval(x, y, 0.075, 0.075, (188, 52, 44))
        pen.oval(x - 0.02, y - 0.02, 0.03, 0.03, (220, 96, 80))
        pen.oval(-x * 0.8, -0.5 - (y + 0.5) * 1.1, 0.035, 0.02, (84, 144, 64))
    for index in range(4):
        angle = index * pi / 4 + 0.4
        ends = [
            (0.42 * cos(angle), -0.5 + 0.42 * sin(angle)),
            (-0.42 * cos(angle), -0.5 - 0.42 * sin(angle)),
        ]
        pen.line(ends, (*shade((206, 144, 76), -0.3), 120), 0.01)
