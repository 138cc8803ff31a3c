"""Devices, instruments and what people carry."""

from __future__ import annotations

from math import cos, pi, sin

from burnish.images.models.colours import shade
from burnish.images.models.sketch.pen import Look, Pen, path


def clock(pen: Pen, look: Look) -> None:
    """A clock at ten past ten."""
    _dial(pen, look, 0.5)


def watch(pen: Pen, look: Look) -> None:
    """A wristwatch."""
    pen.poly(path("-.15,-1 .15,-1 .2,-.7 -.2,-.7"), look.accent)
    pen.poly(path("-.2,-.3 .2,-.3 .15,0 -.15,0"), look.accent)
    for y in (-0.94, -0.87, -0.13, -0.06):
        pen.line([(-0.15, y), (0.15, y)], shade(look.accent, -0.35), 0.012)
    pen.box(0.28, -0.54, 0.34, -0.46, (150, 154, 164), 0.01)
    _dial(pen, look, 0.3)


def guitar(pen: Pen, look: Look) -> None:
    """A guitar that stands."""
    pen.box(-0.035, -0.92, 0.035, -0.4, (92, 60, 40))
    pen.box(-0.06, -1.0, 0.06, -0.88, (72, 48, 36), 0.015)
    pen.blob(
        path(
            "0,-.52 -.16,-.5 -.17,-.36 -.13,-.3 -.24,-.16 -.17,-.01 0,0 .17,-.01 .24,-.16 "
            ".13,-.3 .17,-.36 .16,-.5"
        ),
        look.main,
    )
    pen.blob(
        path(".06,-.51 .16,-.5 .17,-.36 .13,-.3 .24,-.16 .17,-.01 .06,0 .14,-.16 .06,-.3"),
        (*look.darker, 80),
    )
    pen.oval(0, -0.28, 0.075, 0.075, (44, 32, 30))
    pen.box(-0.08, -0.11, 0.08, -0.085, (44, 32, 30))
    for x in (-0.02, 0.0, 0.02):
        pen.line([(x, -0.95), (x, -0.1)], (236, 232, 220), 0.005)


def ball(pen: Pen, look: Look) -> None:
    """A ball with a seam."""
    pen.oval(0, -0.5, 0.5, 0.5, look.main)
    pen.arc(-0.5, -0.5, 0.52, -58, 58, look.accent, 0.04)
    pen.arc(0.5, -0.5, 0.52, 122, 238, look.accent, 0.04)
    pen.blob(path(".1,-.98 .5,-.5 .1,-.02 .3,-.5"), (*look.darker, 100))
    pen.oval(-0.2, -0.72, 0.12, 0.09, (255, 255, 255, 140))


def phone(pen: Pen, look: Look) -> None:
    """A telephone with its screen on."""
    pen.box(-0.26, -1.0, 0.26, 0, look.main, 0.06)
    pen.box(-0.23, -0.95, 0.23, -0.05, (52, 92, 164), 0.04)
    pen.poly(path("-.23,-.5 .23,-.8 .23,-.1 -.23,-.1"), (120, 92, 196, 140))
    for row in range(3):
        for column in range(3):
            x, y = -0.14 + column * 0.14, -0.62 + row * 0.16
            pen.box(x - 0.045, y - 0.045, x + 0.045, y + 0.045, (250, 250, 252, 200), 0.02)
    pen.shine(0, -0.5, 0.15, (24, 34, 60))


def laptop(pen: Pen, look: Look) -> None:
    """An open laptop."""
    pen.box(-0.62, -1.0, 0.62, -0.16, look.dark, 0.04)
    pen.box(-0.57, -0.95, 0.57, -0.22, (44, 68, 116))
    for row, wide in enumerate((0.5, 0.8, 0.36, 0.62, 0.46)):
        pen.line(
            [(-0.5, -0.86 + row * 0.13), (-0.5 + wide, -0.86 + row * 0.13)],
            ((120, 220, 172), (248, 196, 96), (140, 176, 252))[row % 3],
            0.03,
        )
    pen.poly(path("-.62,-.16 .62,-.16 .8,-.02 -.8,-.02"), look.main)
    pen.poly(path("-.5,-.13 .5,-.13 .56,-.07 -.56,-.07"), look.darker)
    pen.box(-0.8, -0.03, 0.8, 0, look.dark, 0.01)
    pen.shine(0, -0.58, 0.2, (20, 34, 50))


def camera(pen: Pen, look: Look) -> None:
    """A camera that looks at us."""
    pen.box(-0.2, -0.96, 0.2, -0.7, look.dark, 0.05)
    pen.box(-0.62, -0.78, 0.62, 0, look.main, 0.08)
    pen.box(-0.62, -0.52, 0.62, -0.14, look.accent)
    for r, ink in (
        (0.32, (44, 44, 50)),
        (0.26, (104, 108, 116)),
        (0.22, (28, 32, 44)),
        (0.13, (52, 72, 128)),
    ):
        pen.oval(0, -0.36, r, r, ink)
    pen.arc(0, -0.36, 0.15, 190, 260, (255, 255, 255, 200), 0.035)
    pen.oval(0.46, -0.66, 0.05, 0.05, (220, 60, 52))
    pen.box(-0.54, -0.86, -0.34, -0.77, (150, 154, 164), 0.02)


def shoe(pen: Pen, look: Look) -> None:
    """A trainer in profile."""
    pen.box(-0.72, -0.16, 0.78, 0, (248, 248, 246), 0.07)
    pen.blob(
        path("-.7,-.14 -.72,-.6 -.6,-.86 -.36,-.76 -.2,-.8 .06,-.56 .4,-.42 .72,-.34 .78,-.14"),
        look.main,
    )
    pen.blob(path("-.7,-.14 -.72,-.5 -.5,-.4 -.44,-.14"), look.dark)
    pen.blob(path(".5,-.39 .72,-.34 .78,-.14 .48,-.14"), look.light)
    pen.curve(path("-.4,-.24 -.1,-.22 .2,-.36 .4,-.42"), look.accent, 0.07)
    for index in range(4):
        x = -0.16 + index * 0.11
        pen.line(
            [(x, -0.7 + index * 0.07), (x + 0.12, -0.56 + index * 0.05)], (250, 250, 250), 0.03
        )


def bag(pen: Pen, look: Look) -> None:
    """A bag with a handle."""
    pen.arc(0, -0.66, 0.25, 180, 360, look.dark, 0.05)
    pen.poly(path("-.46,-.68 .46,-.68 .55,0 -.55,0"), look.main)
    pen.poly(path(".2,-.68 .46,-.68 .55,0 .26,0"), (*look.darker, 80))
    pen.blob(path("-.46,-.68 .46,-.68 .4,-.42 0,-.34 -.4,-.42"), look.dark)
    pen.box(-0.07, -0.44, 0.07, -0.3, (236, 196, 84), 0.02)


def gift(pen: Pen, look: Look) -> None:
    """A wrapped box with a bow."""
    pen.box(-0.45, -0.66, 0.45, 0, look.main)
    pen.box(0.16, -0.66, 0.45, 0, (*look.darker, 80))
    pen.box(-0.5, -0.78, 0.5, -0.6, look.light)
    pen.box(-0.08, -0.78, 0.08, 0, look.accent)
    for side in (-1, 1):
        pen.blob(
            [(0, -0.78), (side * 0.16, -1.0), (side * 0.34, -0.92), (side * 0.2, -0.8)], look.accent
        )


def headphones(pen: Pen, look: Look) -> None:
    """Headphones on their own."""
    pen.arc(0, -0.5, 0.42, 180, 360, look.main, 0.09)
    for side in (-1, 1):
        pen.box(side * 0.26, -0.56, side * 0.54, -0.06, look.dark, 0.1)
        pen.box(side * 0.24, -0.5, side * 0.36, -0.12, look.darker, 0.05)


def hat(pen: Pen, look: Look) -> None:
    """A hat with a band."""
    pen.blob(path("-.42,-.2 -.36,-.84 0,-.78 .36,-.84 .42,-.2"), look.main)
    pen.box(-0.42, -0.38, 0.42, -0.2, look.accent)
    pen.blob(path("-.9,-.22 -.4,-.26 .4,-.26 .9,-.22 .5,-.02 -.5,-.02"), look.dark)


def crown(pen: Pen, look: Look) -> None:
    """A crown with jewels."""
    pen.poly(path("-.6,0 -.7,-.8 -.34,-.42 0,-.98 .34,-.42 .7,-.8 .6,0"), look.main)
    pen.box(-0.6, -0.2, 0.6, 0, look.dark)
    for x, ink in ((-0.36, (208, 44, 72)), (0.0, (64, 120, 220)), (0.36, (60, 172, 108))):
        pen.oval(x, -0.1, 0.07, 0.07, ink)
    for x, y in ((-0.7, -0.8), (0, -0.98), (0.7, -0.8)):
        pen.oval(x, y, 0.06, 0.06, look.light)


def sword(pen: Pen, look: Look) -> None:
    """A sword, point down."""
    pen.poly(path("-.06,-.74 .06,-.74 .05,-.1 0,0 -.05,-.1"), (206, 214, 224))
    pen.poly(path("0,-.74 .06,-.74 .05,-.1 0,0"), (150, 158, 172))
    pen.box(-0.22, -0.79, 0.22, -0.73, look.main, 0.02)
    pen.box(-0.035, -0.96, 0.035, -0.78, look.accent)
    pen.oval(0, -0.97, 0.05, 0.04, look.main)


def _dial(pen: Pen, look: Look, r: float) -> None:
    pen.oval(0, -0.5, r, r, look.main)
    pen.oval(0, -0.5, r * 0.86, r * 0.86, (250, 248, 240))
    for hour in range(12):
        angle = hour * pi / 6
        inner = 0.66 if hour % 3 == 0 else 0.74
        ends = [(r * k * cos(angle), -0.5 + r * k * sin(angle)) for k in (inner, 0.8)]
        pen.line(ends, (48, 44, 52), r * 0.05)
    pen.line([(0, -0.5), (-0.38 * r, -0.5 - 0.24 * r)], (40, 36, 44), r * 0.09)
    pen.line([(0, -0.5), (0.5 * r, -0.5 - 0.36 * r)], (40, 36, 44), r * 0.06)
    pen.oval(0, -0.5, r * 0.07, r * 0.07, (208, 52, 48))
    pen.arc(0, -0.5, r * 0.93, 200, 260, (255, 255, 255, 150), r * 0.06)
