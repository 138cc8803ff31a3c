"""Animals that walk or hop, seen from the side or from the front."""

from __future__ import annotations

from collections.abc import Sequence

from burnish.images.models.colours import shade
from burnish.images.models.sketch.costumes import put_behind, put_on
from burnish.images.models.sketch.pen import Look, Pen, Point, path

_EYE = (28, 24, 30)


def cat(pen: Pen, look: Look) -> None:
    """A cat that sits and looks at us."""
    _sitting(pen, look, tail=path(".2,-.06 .42,-.1 .47,-.32 .38,-.46"))
    for side in (-1, 1):
        pen.poly([(side * 0.2, -0.78), (side * 0.21, -1.0), (side * 0.06, -0.88)], look.main)
        pen.poly(
            [(side * 0.17, -0.82), (side * 0.185, -0.94), (side * 0.1, -0.87)], (226, 150, 150)
        )
    _face(pen, look, muzzle=0.06)
    for side in (-1, 1):
        for rise in (-0.02, 0.0, 0.02):
            pen.line(
                [(side * 0.07, -0.66), (side * 0.27, -0.67 + rise * 2)], (*look.ink, 150), 0.006
            )
    for x in (-0.06, 0.0, 0.06):
        pen.line([(x, -0.9), (x * 0.8, -0.84)], look.dark, 0.02)
    put_on(pen, look.wears, (0.0, -0.72, 0.19), look.main, look.dark)


def dog(pen: Pen, look: Look) -> None:
    """A dog that sits and looks at us."""
    _sitting(pen, look, tail=[(0.2, -0.08), (0.36, -0.16), (0.42, -0.32)])
    _face(pen, look, muzzle=0.1)
    for side in (-1, 1):
        ear = [(side * 0.12, -0.9), (side * 0.26, -0.86), (side * 0.29, -0.62), (side * 0.19, -0.6)]
        pen.blob(ear, look.dark)
    pen.blob(path("-.03,-.575 .03,-.575 .025,-.5 -.025,-.5"), (224, 108, 120))
    put_on(pen, look.wears, (0.0, -0.72, 0.19), look.main, look.dark)


def fox(pen: Pen, look: Look) -> None:
    """A fox that sits, its brush beside it."""
    pen.blob(path(".12,0 .4,-.02 .52,-.2 .46,-.42 .34,-.3 .2,-.12"), look.main)
    pen.blob(path(".46,-.42 .52,-.28 .46,-.24 .4,-.32"), (250, 244, 236))
    _sitting(pen, look, tail=None)
    for side in (-1, 1):
        pen.poly([(side * 0.19, -0.78), (side * 0.22, -1.02), (side * 0.05, -0.88)], look.main)
        pen.poly([(side * 0.17, -0.84), (side * 0.2, -0.96), (side * 0.11, -0.88)], (40, 32, 36))
    pen.oval(0, -0.71, 0.2, 0.18, look.main)
    for side in (-1, 1):
        pen.blob(
            [(side * 0.2, -0.7), (side * 0.06, -0.66), (0, -0.53), (side * 0.12, -0.56)],
            (250, 244, 236),
        )
        pen.oval(side * 0.085, -0.74, 0.025, 0.03, _EYE)
    pen.oval(0, -0.56, 0.03, 0.025, _EYE)
    put_on(pen, look.wears, (0.0, -0.72, 0.19), look.main, look.dark)


def bear(pen: Pen, look: Look) -> None:
    """A bear that sits."""
    for side in (-1, 1):
        pen.oval(side * 0.16, -0.93, 0.075, 0.075, look.main)
        pen.oval(side * 0.16, -0.93, 0.04, 0.04, look.dark)
    _sitting(pen, look, tail=None, wide=1.3)
    _face(pen, look, muzzle=0.1)
    put_on(pen, look.wears, (0.0, -0.72, 0.19), look.main, look.dark)


def rabbit(pen: Pen, look: Look) -> None:
    """A rabbit with long ears."""
    small = pen.part(0, 0, 0.78)
    for side in (-1, 1):
        small.blob(
            [
                (side * 0.03, -0.86),
                (side * 0.05, -1.2),
                (side * 0.13, -1.27),
                (side * 0.16, -1.1),
                (side * 0.13, -0.84),
            ],
            look.main,
        )
        small.blob(
            [(side * 0.06, -0.9), (side * 0.08, -1.15), (side * 0.12, -1.17), (side * 0.11, -0.9)],
            (236, 168, 172),
        )
    small.oval(0.27, -0.1, 0.09, 0.09, look.light)
    _sitting(small, look, tail=None)
    _face(small, look, muzzle=0.06)
    small.box(-0.025, -0.6, 0.025, -0.56, (255, 255, 255))
    put_on(small, look.wears, (0.0, -0.72, 0.19), look.main, look.dark)


def horse(pen: Pen, look: Look) -> None:
    """A horse in profile."""
    for x, bend in ((-0.3, 0.02), (-0.2, -0.03), (0.22, 0.02), (0.31, -0.02)):
        back = look.dark if bend < 0 else look.main
        pen.line([(x, -0.42), (x + bend, -0.2), (x, -0.03)], back, 0.07)
        pen.box(x - 0.04, -0.05, x + 0.05, 0.0, (44, 36, 36))
    pen.curve([(-0.4, -0.56), (-0.5, -0.45), (-0.48, -0.2)], look.darker, 0.06)
    pen.blob(
        path("-.42,-.5 -.36,-.64 -.1,-.62 .2,-.66 .38,-.6 .4,-.44 .2,-.36 -.2,-.36"), look.main
    )
    pen.blob(path("-.4,-.45 -.1,-.46 .38,-.46 .2,-.36 -.2,-.36"), (*look.darker, 70))
    pen.blob(path(".2,-.62 .36,-.92 .46,-.96 .5,-.86 .44,-.6 .36,-.5"), look.main)
    pen.blob(path(".38,-.94 .5,-.97 .68,-.78 .64,-.71 .56,-.74 .44,-.8"), look.main)
    pen.poly([(0.42, -0.95), (0.44, -1.0), (0.49, -0.94)], look.main)
    pen.blob(path(".42,-.98 .3,-.88 .18,-.62 .26,-.62 .38,-.82"), look.darker)
    pen.oval(0.52, -0.89, 0.016, 0.018, _EYE)
    pen.oval(0.645, -0.755, 0.012, 0.01, look.darker)


def elephant(pen: Pen, look: Look) -> None:
    """An elephant in profile."""
    for x in (-0.36, -0.2, 0.1, 0.25):
        pen.box(x - 0.08, -0.4, x + 0.08, 0, look.dark if x in (-0.2, 0.25) else look.main, 0.03)
    pen.blob(path("-.52,-.42 -.46,-.76 -.1,-.86 .24,-.8 .34,-.5 .26,-.28 -.4,-.28"), look.main)
    pen.oval(0.4, -0.7, 0.22, 0.24, look.main)
    pen.curve(path(".56,-.66 .68,-.5 .66,-.25 .74,-.14"), look.main, 0.1)
    pen.blob(path(".3,-.9 .12,-.92 .06,-.66 .16,-.48 .32,-.56"), look.dark)
    pen.curve([(0.55, -0.55), (0.66, -0.46), (0.74, -0.52)], (248, 244, 228), 0.04)
    pen.oval(0.47, -0.74, 0.022, 0.026, _EYE)
    pen.curve([(-0.5, -0.6), (-0.58, -0.45), (-0.57, -0.32)], look.dark, 0.025)


def dragon(pen: Pen, look: Look) -> None:
    """A dragon with raised wings."""
    for side, ink in ((1, look.darker), (-1, look.dark)):
        wing = [
            (0.0, -0.55),
            (-0.1 + side * 0.15, -0.98),
            (-0.5 + side * 0.1, -0.9),
            (-0.42, -0.72),
            (-0.3, -0.7),
            (-0.2, -0.56),
        ]
        pen.poly(wing, ink)
    pen.curve(path("-.25,-.2 -.5,-.12 -.66,-.3 -.6,-.42"), look.main, 0.09)
    pen.poly([(-0.66, -0.4), (-0.56, -0.52), (-0.53, -0.38)], look.accent)
    pen.blob(path("-.32,-.12 -.3,-.42 -.05,-.56 .2,-.5 .24,-.2 .1,-.06 -.2,-.04"), look.main)
    pen.blob(path(".06,-.5 .2,-.44 .22,-.16 .08,-.06 .02,-.24"), look.light)
    pen.curve([(0.12, -0.46), (0.26, -0.64), (0.24, -0.8)], look.main, 0.13)
    pen.blob(path(".12,-.82 .22,-.92 .36,-.9 .56,-.8 .52,-.72 .34,-.7 .18,-.72"), look.main)
    pen.poly([(0.2, -0.88), (0.12, -1.0), (0.28, -0.92)], look.accent)
    pen.oval(0.33, -0.84, 0.025, 0.025, (248, 216, 64))
    pen.oval(0.337, -0.84, 0.01, 0.018, _EYE)
    for x in (-0.18, 0.12):
        pen.box(x - 0.06, -0.16, x + 0.08, 0, look.dark, 0.03)


def _sitting(pen: Pen, look: Look, *, tail: Sequence[Point] | None, wide: float = 1.0) -> None:
    """A body that sits upright, with its head."""
    put_behind(pen, look.wears, (0.0, -0.72, 0.19), look.main)
    if tail:
        pen.curve(tail, look.dark, 0.07)
    w = wide
    pen.blob(
        [
            (-0.13 * w, -0.6),
            (-0.2 * w, -0.36),
            (-0.27 * w, -0.1),
            (-0.18 * w, 0.0),
            (0.18 * w, 0.0),
            (0.27 * w, -0.1),
            (0.2 * w, -0.36),
            (0.13 * w, -0.6),
        ],
        look.main,
    )
    pen.blob(
        [(0.06, -0.56), (0.2 * w, -0.34), (0.27 * w, -0.1), (0.18 * w, 0.0), (0.08, 0.0)],
        (*look.darker, 60),
    )
    pen.oval(0, -0.32, 0.1 * w, 0.18, look.light)
    for side in (-1, 1):
        pen.oval(side * 0.2 * w, -0.08, 0.1, 0.085, look.main)
        pen.box(side * 0.03, -0.3, side * 0.12, -0.02, look.main, 0.04)
        pen.oval(side * 0.08, -0.025, 0.065, 0.035, look.light)
        pen.line([(side * 0.125, -0.26), (side * 0.12, -0.06)], look.dark, 0.01)


def _face(pen: Pen, look: Look, *, muzzle: float) -> None:
    pen.oval(0, -0.72, 0.225, 0.19, look.main)
    pen.oval(0.07, -0.7, 0.15, 0.16, (*look.darker, 30))
    pen.oval(0, -0.635, muzzle + 0.035, muzzle * 0.85, shade(look.main, 0.55))
    for side in (-1, 1):
        pen.oval(side * 0.095, -0.755, 0.036, 0.04, (250, 250, 244))
        pen.oval(side * 0.093, -0.752, 0.028, 0.036, _EYE)
        pen.oval(side * 0.093 - 0.01, -0.768, 0.01, 0.012, (255, 255, 255))
        pen.curve([(0, -0.625), (side * 0.025, -0.595), (side * 0.065, -0.605)], look.ink, 0.012)
    pen.blob([(-0.032, -0.665), (0.032, -0.665), (0, -0.628)], (56, 40, 44))
