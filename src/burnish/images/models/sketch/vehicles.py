"""Things that ride, float and fly."""

from __future__ import annotations

from math import cos, pi, sin

from burnish.images.models.colours import shade
from burnish.images.models.sketch.pen import Look, Pen, path

_TYRE = (36, 36, 42)
_GLASS = (168, 208, 228)
_STEEL = (150, 156, 166)


def bicycle(pen: Pen, look: Look) -> None:
    """A bicycle in profile."""
    for x in (-0.52, 0.52):
        pen.ring(x, -0.36, 0.36, _TYRE, 0.045)
        pen.ring(x, -0.36, 0.31, (188, 192, 200), 0.014)
        for spoke in range(10):
            angle = spoke * pi / 5
            pen.line(
                [(x, -0.36), (x + 0.3 * cos(angle), -0.36 + 0.3 * sin(angle))],
                (176, 182, 192),
                0.006,
            )
        pen.oval(x, -0.36, 0.035, 0.035, (90, 94, 102))
    frame, width = look.main, 0.045
    pen.line([(-0.52, -0.36), (-0.08, -0.34)], frame, width * 0.8)
    pen.line([(-0.52, -0.36), (-0.2, -0.78)], frame, width * 0.8)
    pen.line([(-0.24, -0.86), (-0.08, -0.34)], frame, width)
    pen.line([(-0.08, -0.34), (0.36, -0.76)], frame, width)
    pen.line([(-0.2, -0.78), (0.34, -0.8)], frame, width)
    pen.line([(0.33, -0.9), (0.52, -0.36)], frame, width)
    pen.line([(-0.19, -0.765), (0.32, -0.785)], look.light, 0.012)
    pen.blob(path("-.38,-.92 -.12,-.91 -.16,-.85 -.34,-.87"), (52, 40, 36))
    pen.curve(path(".33,-.9 .36,-.98 .5,-.98 .52,-.9"), _STEEL, 0.03)
    pen.line([(0.5, -0.92), (0.52, -0.87)], (52, 40, 36), 0.045)
    pen.ring(-0.08, -0.34, 0.085, (84, 88, 96), 0.022)
    pen.line([(-0.08, -0.34), (-0.02, -0.2)], (84, 88, 96), 0.025)
    pen.box(-0.06, -0.21, 0.05, -0.175, (44, 44, 50), 0.01)
    pen.line([(-0.52, -0.39), (-0.08, -0.42)], (110, 114, 120), 0.01)


def car(pen: Pen, look: Look) -> None:
    """A car in profile."""
    body = "-.98,-.2 -.98,-.5 -.86,-.58 -.52,-.62 -.3,-.92 .24,-.94 .5,-.64 .9,-.54 1,-.36 1,-.2"
    pen.poly(path(body), look.main)
    pen.poly(path("-.98,-.2 -.98,-.34 1,-.34 1,-.2"), look.dark)
    pen.poly(path("-.42,-.62 -.25,-.85 -.04,-.86 -.04,-.62"), _GLASS)
    pen.poly(path(".03,-.62 .03,-.86 .2,-.87 .4,-.63"), _GLASS)
    pen.poly(path("-.3,-.62 -.2,-.85 -.12,-.85 -.2,-.62"), (255, 255, 255, 110))
    pen.line([(-0.9, -0.53), (0.86, -0.53)], look.light, 0.02)
    pen.line([(0, -0.6), (0, -0.26)], look.darker, 0.012)
    pen.box(0.08, -0.5, 0.2, -0.47, look.darker, 0.01)
    pen.oval(0.93, -0.45, 0.055, 0.06, (255, 240, 180))
    pen.shine(0.95, -0.45, 0.05, (90, 80, 40))
    pen.box(-0.99, -0.5, -0.93, -0.42, (220, 52, 44), 0.02)
    for x in (-0.6, 0.6):
        pen.oval(x, -0.19, 0.22, 0.22, look.darker)
        pen.oval(x, -0.17, 0.18, 0.18, _TYRE)
        pen.oval(x, -0.17, 0.1, 0.1, (188, 192, 200))
        pen.oval(x, -0.17, 0.04, 0.04, (96, 100, 110))


def bus(pen: Pen, look: Look) -> None:
    """A bus in profile."""
    pen.box(-0.95, -0.95, 0.95, -0.16, look.main, 0.08)
    pen.box(-0.95, -0.4, 0.95, -0.32, look.accent)
    pen.box(-0.95, -0.26, 0.95, -0.16, look.dark)
    for index in range(5):
        pen.box(-0.86 + index * 0.3, -0.84, -0.62 + index * 0.3, -0.52, _GLASS, 0.03)
    pen.box(0.68, -0.84, 0.92, -0.28, shade(_GLASS, -0.15), 0.03)
    pen.oval(0.92, -0.26, 0.04, 0.04, (255, 240, 180))
    for x in (-0.55, 0.5):
        pen.oval(x, -0.15, 0.15, 0.15, _TYRE)
        pen.oval(x, -0.15, 0.07, 0.07, (188, 192, 200))


def train(pen: Pen, look: Look) -> None:
    """A steam locomotive with its smoke."""
    for index in range(4):
        pen.oval(
            0.62 - index * 0.2,
            -0.98 - index * 0.05,
            0.1 + index * 0.035,
            0.08 + index * 0.02,
            (236, 236, 240, 170),
        )
    pen.box(-0.9, -0.85, -0.35, -0.2, look.main, 0.02)
    pen.box(-0.96, -0.92, -0.3, -0.84, look.darker, 0.02)
    pen.box(-0.8, -0.76, -0.48, -0.52, _GLASS, 0.02)
    pen.box(-0.36, -0.64, 0.8, -0.24, look.main, 0.1)
    pen.box(-0.36, -0.36, 0.8, -0.24, look.dark)
    for x in (-0.05, 0.3):
        pen.box(x, -0.64, x + 0.04, -0.24, look.accent)
    pen.poly(path(".5,-.62 .46,-.88 .74,-.88 .7,-.62"), look.darker)
    pen.oval(0.8, -0.44, 0.07, 0.12, (252, 228, 140))
    pen.poly([(0.74, -0.24), (1.0, -0.02), (0.74, -0.02)], look.darker)
    for x in (-0.7, -0.42, -0.08, 0.24, 0.56):
        pen.oval(x, -0.13, 0.14, 0.13, _TYRE)
        pen.oval(x, -0.13, 0.09, 0.08, (176, 60, 52))
    pen.line([(-0.7, -0.11), (0.56, -0.11)], _STEEL, 0.03)


def boat(pen: Pen, look: Look) -> None:
    """A sailing boat."""
    pen.line([(0, -0.16), (0, -0.99)], (110, 76, 48), 0.025)
    pen.blob(path(".03,-.96 .16,-.7 .4,-.36 .42,-.27 .03,-.25"), (250, 248, 240))
    pen.poly(path("-.03,-.9 -.36,-.27 -.03,-.26"), shade(look.main, 0.25))
    pen.poly(path(".03,-.6 .24,-.58 .4,-.36 .42,-.27 .03,-.25"), (206, 206, 214, 110))
    pen.poly(path("-.52,-.22 .56,-.22 .4,0 -.38,0"), look.main)
    pen.poly(path("-.42,-.06 .45,-.06 .4,0 -.38,0"), look.dark)
    pen.line([(-0.52, -0.21), (0.56, -0.21)], (250, 246, 236), 0.025)
    pen.poly([(0, -1.0), (0.14, -0.965), (0, -0.93)], (216, 52, 48))


def ship(pen: Pen, look: Look) -> None:
    """A steamer."""
    pen.poly(path("-.95,-.32 1,-.36 .8,0 -.8,0"), look.main)
    pen.poly(path("-.86,-.1 .86,-.1 .8,0 -.8,0"), (168, 48, 44))
    pen.box(-0.65, -0.52, 0.55, -0.31, (246, 246, 242), 0.02)
    pen.box(-0.45, -0.68, 0.35, -0.51, (232, 234, 236), 0.02)
    for index in range(9):
        pen.oval(-0.56 + index * 0.13, -0.41, 0.03, 0.03, (84, 132, 168))
    for index in range(5):
        pen.box(-0.38 + index * 0.15, -0.64, -0.29 + index * 0.15, -0.56, _GLASS)
    for x in (-0.25, 0.05):
        pen.poly([(x, -0.67), (x - 0.02, -0.94), (x + 0.16, -0.94), (x + 0.15, -0.67)], look.accent)
        pen.box(x - 0.02, -0.95, x + 0.16, -0.88, (44, 44, 50))
        pen.oval(x - 0.02, -1.0, 0.12, 0.05, (210, 212, 218, 150))


def plane(pen: Pen, look: Look) -> None:
    """An airliner."""
    pen.poly(path("-.1,-.42 -.42,-.92 -.26,-.92 .22,-.44"), look.dark)
    pen.poly(path("-.78,-.46 -.96,-.86 -.8,-.86 -.56,-.5"), look.main)
    pen.blob(
        path("-.92,-.44 -.6,-.52 .5,-.54 .84,-.46 .98,-.36 .84,-.28 .4,-.24 -.6,-.3"),
        (244, 246, 248),
    )
    pen.blob(path("-.92,-.42 -.5,-.36 .5,-.34 .96,-.35 .8,-.27 .4,-.24 -.6,-.3"), look.main)
    for index in range(9):
        pen.oval(-0.42 + index * 0.11, -0.43, 0.022, 0.026, (72, 104, 140))
    pen.poly(path(".74,-.46 .88,-.4 .74,-.4"), (72, 104, 140))
    pen.poly(path(".16,-.34 -.34,-.02 -.5,-.02 -.22,-.34"), look.dark)
    pen.oval(-0.1, -0.16, 0.11, 0.05, (96, 100, 112))


def rocket(pen: Pen, look: Look) -> None:
    """A rocket with its flame."""
    pen.blob(path("-.1,-.17 -.15,-.06 0,.16 .15,-.06 .1,-.17"), (255, 148, 40))
    pen.blob(path("-.05,-.17 -.07,-.06 0,.07 .07,-.06 .05,-.17"), (255, 232, 140))
    pen.shine(0, -0.06, 0.1, (200, 100, 30))
    for side in (-1, 1):
        pen.blob(
            [(side * 0.13, -0.5), (side * 0.32, -0.28), (side * 0.31, -0.1), (side * 0.13, -0.22)],
            look.main,
        )
    pen.blob(path("-.16,-.18 -.19,-.55 -.12,-.82 0,-1 .12,-.82 .19,-.55 .16,-.18"), (242, 244, 246))
    pen.blob(path(".03,-.96 .12,-.82 .19,-.55 .16,-.18 .07,-.18 .1,-.55"), (150, 156, 172, 130))
    pen.blob(path("-.115,-.84 0,-1.01 .115,-.84 0,-.81"), look.main)
    pen.oval(0, -0.6, 0.09, 0.09, (120, 128, 142))
    pen.oval(0, -0.6, 0.065, 0.065, (96, 176, 224))
    pen.arc(0, -0.6, 0.045, 190, 260, (255, 255, 255), 0.018)
    pen.box(-0.165, -0.3, 0.165, -0.25, look.main)
    pen.poly(path("-.11,-.18 .11,-.18 .13,-.12 -.13,-.12"), (84, 88, 98))


def balloon(pen: Pen, look: Look) -> None:
    """A hot-air balloon."""
    pen.blob(path("-.09,-.24 -.38,-.6 -.3,-.9 0,-1 .3,-.9 .38,-.6 .09,-.24"), look.main)
    pen.blob(path("-.04,-.24 -.17,-.6 -.13,-.92 0,-1 .13,-.92 .17,-.6 .04,-.24"), look.accent)
    pen.blob(path("-.01,-.24 -.05,-.6 -.04,-.95 .04,-.95 .05,-.6 .01,-.24"), look.main)
    pen.blob(path(".08,-.97 .3,-.9 .38,-.6 .09,-.24 .24,-.6"), (*look.darker, 80))
    for side in (-1, 1):
        pen.line([(side * 0.08, -0.25), (side * 0.06, -0.12)], (84, 64, 48), 0.008)
    pen.box(-0.07, -0.12, 0.07, 0, (152, 104, 60), 0.015)
    pen.line([(-0.07, -0.06), (0.07, -0.06)], (112, 72, 40), 0.01)
