"""Trees, flowers and stones."""

from __future__ import annotations

from math import cos, pi, sin

from burnish.images.models.colours import shade
from burnish.images.models.sketch.pen import Look, Pen, path

_BARK = (112, 76, 48)
_STEM = (72, 140, 68)


def tree(pen: Pen, look: Look) -> None:
    """A broad tree."""
    pen.blob(path("-.07,0 -.05,-.3 -.12,-.5 0,-.46 .12,-.52 .05,-.3 .08,0"), _BARK)
    pen.blob(path(".01,0 .02,-.3 .1,-.5 .05,-.3 .08,0"), shade(_BARK, -0.3))
    crown = (
        (-0.2, -0.55, 0.17),
        (0.2, -0.55, 0.17),
        (-0.13, -0.74, 0.18),
        (0.14, -0.74, 0.18),
        (0, -0.84, 0.16),
        (0, -0.62, 0.2),
    )
    for x, y, r in crown:
        pen.oval(x + 0.02, y + 0.03, r, r * 0.92, look.dark)
    for x, y, r in crown:
        pen.oval(x, y, r * 0.88, r * 0.82, look.main)
    for x, y, r in crown[:5]:
        pen.oval(x - r * 0.25, y - r * 0.3, r * 0.42, r * 0.34, (*look.light, 130))


def pine(pen: Pen, look: Look) -> None:
    """A conifer."""
    pen.box(-0.04, -0.14, 0.04, 0, _BARK)
    for step, wide in enumerate((0.28, 0.23, 0.18, 0.12)):
        y = -0.1 - step * 0.2
        pen.poly(
            [(-wide, y), (0, y - 0.34), (wide, y), (0, y - 0.05)],
            look.dark if step % 2 else look.main,
        )
        pen.poly([(0, y - 0.34), (wide, y), (0.02, y - 0.05)], (*look.darker, 90))


def palm(pen: Pen, look: Look) -> None:
    """A palm that leans a little."""
    pen.curve(path(".02,0 -.02,-.3 .04,-.55 .1,-.74"), _BARK, 0.06)
    for step in range(6):
        pen.line(
            [(-0.04 + step * 0.018, -0.12 - step * 0.1), (0.03 + step * 0.018, -0.13 - step * 0.1)],
            shade(_BARK, -0.35),
            0.01,
        )
    for index in range(7):
        angle = pi * (1.08 + index * 0.14)
        x, y = 0.1 + 0.42 * cos(angle), -0.74 + 0.3 * sin(angle) + 0.1 * abs(3 - index)
        mid = (0.1 + 0.25 * cos(angle), -0.78 + 0.3 * sin(angle))
        pen.blob(
            [(0.1, -0.72), (mid[0], mid[1] - 0.035), (x, y), (mid[0], mid[1] + 0.05)],
            look.main if index % 2 else look.dark,
        )
    for x in (0.06, 0.13):
        pen.oval(x, -0.7, 0.035, 0.035, (120, 80, 44))


def cactus(pen: Pen, look: Look) -> None:
    """A saguaro."""
    pen.line([(-0.26, -0.62), (-0.26, -0.4), (-0.05, -0.34)], look.main, 0.13)
    pen.line([(0.26, -0.74), (0.26, -0.5), (0.05, -0.44)], look.dark, 0.13)
    pen.line([(0, -0.88), (0, -0.02)], look.main, 0.22)
    for x in (-0.06, 0.0, 0.06):
        pen.line([(x, -0.9), (x, -0.02)], look.dark, 0.012)
    pen.oval(0, -0.99, 0.06, 0.04, (236, 96, 140))


def bush(pen: Pen, look: Look) -> None:
    """A round bush."""
    for x, y, r in ((-0.4, -0.3, 0.32), (0.4, -0.3, 0.32), (0, -0.5, 0.42)):
        pen.oval(x, y, r, r * 0.9, look.dark)
        pen.oval(x - 0.03, y - 0.05, r * 0.82, r * 0.74, look.main)
        pen.oval(x - 0.1, y - 0.14, r * 0.35, r * 0.3, (*look.light, 120))
    pen.box(-0.5, -0.12, 0.5, 0, look.dark, 0.06)


def flower(pen: Pen, look: Look) -> None:
    """A flower with eight petals."""
    _stalk(pen)
    for ring, ink in ((0.19, look.dark), (0.17, look.main)):
        for index in range(8):
            angle = index * pi / 4 + (0.2 if ring > 0.18 else 0)
            pen.oval(ring * cos(angle), -0.76 + ring * sin(angle), 0.09, 0.09, ink)
    pen.oval(0, -0.76, 0.1, 0.1, look.accent)
    pen.oval(-0.025, -0.785, 0.04, 0.035, shade(look.accent, 0.4))


def sunflower(pen: Pen, look: Look) -> None:
    """A sunflower."""
    _stalk(pen)
    for index in range(16):
        angle = index * pi / 8
        x, y = 0.27 * cos(angle), -0.74 + 0.27 * sin(angle)
        side = (0.06 * -sin(angle), 0.06 * cos(angle))
        mid = (0.16 * cos(angle), -0.74 + 0.16 * sin(angle))
        pen.blob(
            [
                (0, -0.74),
                (mid[0] + side[0], mid[1] + side[1]),
                (x, y),
                (mid[0] - side[0], mid[1] - side[1]),
            ],
            look.main if index % 2 else look.dark,
        )
    pen.oval(0, -0.74, 0.14, 0.14, (96, 60, 36))
    pen.oval(-0.02, -0.76, 0.08, 0.08, (128, 84, 48))


def rose(pen: Pen, look: Look) -> None:
    """A rose."""
    _stalk(pen)
    pen.blob(path("-.2,-.8 -.17,-.62 0,-.54 .17,-.62 .2,-.8 .1,-.95 -.1,-.95"), look.main)
    pen.blob(path("-.2,-.8 -.1,-.66 0,-.56 -.14,-.6"), look.dark)
    pen.blob(path(".2,-.8 .1,-.66 0,-.56 .14,-.6"), look.darker)
    pen.oval(0, -0.84, 0.13, 0.09, look.dark)
    pen.curve(
        path("-.1,-.84 -.02,-.9 .08,-.86 .06,-.8 -.02,-.8 -.03,-.85 .03,-.86"), look.light, 0.018
    )
    pen.curve(path("-.17,-.74 -.06,-.68 .06,-.68 .17,-.75"), look.light, 0.014)


def tulip(pen: Pen, look: Look) -> None:
    """A tulip."""
    _stalk(pen)
    pen.blob(path("-.16,-.96 -.17,-.7 0,-.58 .17,-.7 .16,-.96 .08,-.82 0,-1 -.08,-.82"), look.main)
    pen.blob(path("-.05,-.6 -.07,-.8 0,-1 .07,-.8 .05,-.6"), look.light)
    pen.blob(path(".08,-.62 .17,-.7 .16,-.96 .1,-.84"), look.dark)


def mushroom(pen: Pen, look: Look) -> None:
    """A toadstool."""
    pen.blob(path("-.14,0 -.12,-.4 .12,-.4 .14,0"), (246, 236, 216))
    pen.blob(path(".02,0 .04,-.4 .12,-.4 .14,0"), (206, 190, 168))
    pen.blob(path("-.48,-.4 -.4,-.76 0,-.98 .4,-.76 .48,-.4 0,-.34"), look.main)
    pen.blob(path(".12,-.36 .48,-.4 .4,-.76 .2,-.9"), (*look.darker, 70))
    for x, y, r in (
        (-0.2, -0.66, 0.08),
        (0.08, -0.78, 0.07),
        (0.26, -0.56, 0.06),
        (0, -0.5, 0.05),
        (-0.34, -0.48, 0.04),
    ):
        pen.oval(x, y, r, r * 0.85, (252, 248, 240))


def rock(pen: Pen, look: Look) -> None:
    """A boulder."""
    pen.poly(path("-.7,0 -.6,-.5 -.2,-.85 .3,-.8 .66,-.4 .72,0"), look.main)
    pen.poly(path(".1,0 .05,-.5 .3,-.8 .66,-.4 .72,0"), look.dark)
    pen.poly(path("-.6,-.5 -.2,-.85 .3,-.8 .05,-.5"), look.light)


def fire(pen: Pen, look: Look) -> None:
    """Flames over logs."""
    pen.line([(-0.4, -0.02), (0.4, -0.14)], _BARK, 0.1)
    pen.line([(-0.4, -0.14), (0.4, -0.02)], shade(_BARK, -0.3), 0.1)
    pen.blob(
        path("-.34,-.1 -.3,-.5 -.14,-.4 -.1,-.95 .12,-.6 .22,-.76 .34,-.36 .3,-.1"), (236, 92, 32)
    )
    pen.blob(path("-.2,-.1 -.16,-.4 -.02,-.68 .14,-.42 .2,-.1"), (250, 168, 48))
    pen.blob(path("-.1,-.1 0,-.42 .1,-.1"), (255, 236, 160))
    pen.shine(0, -0.35, 0.3, (170, 80, 20))


def _stalk(pen: Pen) -> None:
    pen.curve([(0, 0), (0.02, -0.3), (0, -0.62)], _STEM, 0.035)
    pen.blob(path("0,-.18 .14,-.36 .27,-.36 .14,-.2"), _STEM)
    pen.blob(path("0,-.26 -.12,-.42 -.25,-.44 -.13,-.27"), shade(_STEM, -0.2))
