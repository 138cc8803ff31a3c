"""Animals that fly or swim."""

from __future__ import annotations

from burnish.images.models.colours import shade
from burnish.images.models.sketch.costumes import put_behind, put_on
from burnish.images.models.sketch.pen import Look, Pen, path

_EYE = (28, 24, 30)
_BEAK = (240, 148, 40)


def bird(pen: Pen, look: Look) -> None:
    """A bird in flight."""
    pen.blob(path("-.1,-.42 -.34,-.86 -.2,-.92 .12,-.62 .16,-.44"), look.dark)
    pen.poly(path("-.3,-.4 -.66,-.5 -.68,-.38 -.6,-.3 -.3,-.3"), look.dark)
    pen.blob(path("-.38,-.36 -.1,-.52 .22,-.56 .4,-.46 .3,-.28 0,-.2 -.25,-.26"), look.main)
    pen.blob(path("-.1,-.26 .1,-.3 .32,-.34 .2,-.23 0,-.19"), look.light)
    pen.oval(0.38, -0.5, 0.13, 0.12, look.main)
    pen.poly([(0.49, -0.53), (0.62, -0.47), (0.48, -0.44)], _BEAK)
    pen.oval(0.42, -0.52, 0.024, 0.026, _EYE)
    pen.oval(0.415, -0.528, 0.008, 0.008, (255, 255, 255))
    pen.blob(path("-.06,-.44 -.22,-.98 -.04,-1 .22,-.66 .2,-.42"), shade(look.main, -0.15))
    for step in range(3):
        pen.curve([(-0.14 + step * 0.07, -0.9 + step * 0.07), (0.08, -0.5)], look.dark, 0.012)


def duck(pen: Pen, look: Look) -> None:
    """A duck that swims or sits."""
    put_behind(pen, look.wears, (0.32, -0.78, 0.16), look.main)
    pen.blob(
        path(
            "-.56,-.42 -.46,-.2 -.2,-.02 .2,-.02 .46,-.16 .46,-.42 .26,-.5 0,-.44 -.3,-.46 "
            "-.62,-.62"
        ),
        look.main,
    )
    pen.blob(path("-.4,-.14 -.1,-.16 .3,-.14 .2,-.02 -.2,-.02"), (*look.darker, 70))
    pen.blob(path(".12,-.44 .2,-.66 .34,-.66 .44,-.44 .4,-.3 .2,-.3"), look.main)
    pen.oval(0.32, -0.76, 0.19, 0.18, look.main)
    pen.blob(path("-.34,-.4 -.1,-.44 .12,-.36 .08,-.2 -.12,-.14 -.3,-.24 -.44,-.42"), look.dark)
    pen.curve([(-0.28, -0.3), (-0.1, -0.22), (0.04, -0.26)], look.main, 0.02)
    pen.blob(path(".47,-.8 .6,-.8 .68,-.74 .6,-.69 .47,-.69"), _BEAK)
    pen.line([(0.48, -0.74), (0.64, -0.74)], shade(_BEAK, -0.4), 0.012)
    pen.oval(0.38, -0.81, 0.03, 0.034, _EYE)
    pen.oval(0.372, -0.822, 0.01, 0.01, (255, 255, 255))
    put_on(pen, look.wears, (0.32, -0.78, 0.16), look.main, look.dark)


def owl(pen: Pen, look: Look) -> None:
    """An owl that looks at us."""
    put_behind(pen, look.wears, (0.0, -0.7, 0.24), look.main)
    pen.blob(
        path("-.28,-.88 -.34,-.5 -.24,-.08 0,0 .24,-.08 .34,-.5 .28,-.88 .12,-.82 -.12,-.82"),
        look.main,
    )
    pen.oval(0, -0.3, 0.17, 0.24, look.light)
    for row in range(3):
        for column in (-1, 0, 1):
            pen.arc(column * 0.09, -0.42 + row * 0.11, 0.045, 20, 160, look.dark, 0.014)
    for side in (-1, 1):
        pen.blob(
            [(side * 0.28, -0.6), (side * 0.38, -0.36), (side * 0.27, -0.1), (side * 0.21, -0.3)],
            look.dark,
        )
        pen.oval(side * 0.125, -0.66, 0.125, 0.125, look.light)
        pen.oval(side * 0.12, -0.66, 0.075, 0.078, (248, 196, 64))
        pen.oval(side * 0.118, -0.66, 0.045, 0.05, _EYE)
        pen.oval(side * 0.118 - 0.015, -0.68, 0.014, 0.014, (255, 255, 255))
        pen.oval(side * 0.08, -0.01, 0.05, 0.022, _BEAK)
    pen.poly([(-0.035, -0.6), (0.035, -0.6), (0, -0.51)], _BEAK)
    put_on(pen, look.wears, (0.0, -0.7, 0.24), look.main, look.dark)


def fish(pen: Pen, look: Look) -> None:
    """A fish in profile."""
    pen.blob(path("-.38,-.5 -.72,-.82 -.66,-.5 -.72,-.18"), look.dark)
    pen.blob(path("-.16,-.76 .08,-.98 .24,-.78"), look.dark)
    pen.blob(path("-.46,-.5 -.2,-.74 .2,-.8 .5,-.62 .58,-.5 .48,-.36 .2,-.2 -.2,-.28"), look.main)
    pen.blob(path("-.3,-.36 .2,-.34 .5,-.42 .2,-.2 -.2,-.28"), look.light)
    for column in range(3):
        for row in range(3):
            pen.arc(
                -0.14 + column * 0.14, -0.6 + row * 0.11, 0.06, -70, 70, (*look.dark, 160), 0.014
            )
    pen.blob(path(".04,-.44 -.1,-.26 .1,-.32"), look.dark)
    pen.oval(0.4, -0.57, 0.06, 0.06, (250, 250, 244))
    pen.oval(0.415, -0.57, 0.033, 0.036, _EYE)
    pen.curve([(0.56, -0.46), (0.5, -0.43), (0.46, -0.44)], look.darker, 0.014)


def butterfly(pen: Pen, look: Look) -> None:
    """A butterfly with open wings."""
    for side in (-1, 1):
        pen.blob(
            [(side * 0.02, -0.5), (side * 0.2, -0.95), (side * 0.52, -0.9), (side * 0.46, -0.55)],
            look.main,
        )
        pen.blob(
            [(side * 0.02, -0.48), (side * 0.42, -0.5), (side * 0.38, -0.12), (side * 0.12, -0.12)],
            look.dark,
        )
        pen.blob(
            [(side * 0.1, -0.6), (side * 0.22, -0.85), (side * 0.42, -0.82), (side * 0.36, -0.62)],
            look.light,
        )
        pen.oval(side * 0.25, -0.3, 0.07, 0.08, look.accent)
        pen.oval(side * 0.44, -0.84, 0.03, 0.03, (255, 255, 255))
        pen.curve([(0, -0.74), (side * 0.08, -0.92), (side * 0.16, -0.98)], (40, 32, 36), 0.014)
    pen.oval(0, -0.45, 0.035, 0.3, (48, 38, 40))
