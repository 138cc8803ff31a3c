"""Things of the house."""

from __future__ import annotations

from burnish.images.models.colours import shade
from burnish.images.models.sketch.pen import Look, Pen, path


def cup(pen: Pen, look: Look) -> None:
    """A cup that steams."""
    for x in (-0.16, 0.04, 0.22):
        pen.curve(
            [(x, -0.72), (x + 0.05, -0.82), (x - 0.03, -0.9), (x + 0.03, -1.0)],
            (250, 250, 250, 120),
            0.03,
        )
    pen.oval(0, -0.02, 0.6, 0.06, shade(look.main, 0.5))
    pen.ring(0.44, -0.38, 0.18, look.dark, 0.07)
    pen.blob(path("-.42,-.66 -.4,-.3 -.24,-.04 0,0 .24,-.04 .4,-.3 .42,-.66"), look.main)
    pen.blob(path(".12,-.64 .42,-.66 .4,-.3 .24,-.04 .04,0 .18,-.3"), (*look.darker, 90))
    pen.oval(0, -0.66, 0.42, 0.09, look.light)
    pen.oval(0, -0.655, 0.37, 0.07, (92, 56, 36))
    pen.line([(-0.3, -0.5), (-0.26, -0.25)], (255, 255, 255, 140), 0.05)


def glass(pen: Pen, look: Look) -> None:
    """A stemmed glass."""
    pen.oval(0, -0.02, 0.24, 0.035, (214, 226, 234))
    pen.line([(0, -0.04), (0, -0.48)], (206, 220, 230), 0.035)
    pen.blob(
        path("-.28,-.98 -.3,-.72 -.14,-.5 0,-.46 .14,-.5 .3,-.72 .28,-.98"), (222, 236, 242, 150)
    )
    pen.blob(path("-.28,-.78 -.16,-.53 0,-.48 .16,-.53 .28,-.78 0,-.76"), look.main)
    pen.oval(0, -0.78, 0.28, 0.04, look.light)
    pen.line([(-0.2, -0.92), (-0.2, -0.66)], (255, 255, 255, 190), 0.03)


def bottle(pen: Pen, look: Look) -> None:
    """A bottle with a label and a cap."""
    pen.blob(
        path(
            "-.24,-.04 -.25,-.5 -.2,-.62 -.09,-.72 -.08,-.88 .08,-.88 .09,-.72 .2,-.62 "
            ".25,-.5 .24,-.04 0,0"
        ),
        look.main,
    )
    pen.blob(
        path(".08,-.86 .09,-.72 .2,-.62 .25,-.5 .24,-.04 .1,-.01 .13,-.5"), (*look.darker, 110)
    )
    pen.box(-0.25, -0.44, 0.25, -0.16, (248, 244, 232), 0.01)
    pen.box(-0.25, -0.41, 0.25, -0.38, look.accent)
    pen.oval(0, -0.27, 0.075, 0.065, look.accent)
    pen.box(-0.1, -1.0, 0.1, -0.85, look.accent, 0.02)
    pen.line([(-0.17, -0.56), (-0.17, -0.1)], (255, 255, 255, 130), 0.035)


def teapot(pen: Pen, look: Look) -> None:
    """A teapot."""
    pen.ring(-0.46, -0.42, 0.2, look.dark, 0.07)
    pen.blob(path(".36,-.3 .6,-.44 .72,-.72 .62,-.74 .52,-.54 .3,-.5"), look.main)
    pen.blob(path("-.46,-.4 -.38,-.7 0,-.8 .38,-.7 .46,-.4 .3,-.06 0,0 -.3,-.06"), look.main)
    pen.blob(path(".1,-.78 .38,-.7 .46,-.4 .3,-.06 .06,0 .24,-.4"), (*look.darker, 90))
    pen.oval(0, -0.78, 0.24, 0.06, look.dark)
    pen.oval(0, -0.88, 0.07, 0.07, look.accent)
    pen.oval(-0.2, -0.54, 0.08, 0.1, (255, 255, 255, 110))


def vase(pen: Pen, look: Look) -> None:
    """A vase with a few flowers."""
    for x, ink in ((-0.2, (232, 96, 120)), (0.02, (248, 204, 84)), (0.22, (168, 116, 212))):
        pen.curve([(0, -0.5), (x * 0.6, -0.66), (x, -0.8)], (84, 148, 76), 0.025)
        for dx, dy in ((-0.05, 0), (0.05, 0), (0, -0.05), (0, 0.05)):
            pen.oval(x + dx, -0.86 + dy, 0.055, 0.055, ink)
        pen.oval(x, -0.86, 0.035, 0.035, (252, 236, 180))
    pen.blob(
        path("-.12,-.56 -.09,-.44 -.28,-.24 -.18,0 .18,0 .28,-.24 .09,-.44 .12,-.56"), look.main
    )
    pen.blob(path(".04,-.55 .09,-.44 .28,-.24 .18,0 .06,0 .16,-.24"), (*look.darker, 90))
    pen.line([(-0.23, -0.24), (0.23, -0.24)], look.accent, 0.03)


def lamp(pen: Pen, look: Look) -> None:
    """A table lamp that is on."""
    pen.oval(0, -0.03, 0.22, 0.04, (92, 76, 60))
    pen.line([(0, -0.05), (0, -0.6)], (148, 116, 76), 0.04)
    pen.oval(0, -0.22, 0.09, 0.13, (148, 116, 76))
    pen.poly(path("-.18,-.98 .18,-.98 .34,-.56 -.34,-.56"), look.main)
    pen.poly(path("-.1,-.98 .1,-.98 .18,-.56 -.18,-.56"), (*look.light, 180))
    pen.shine(0, -0.7, 0.3, (150, 110, 50))


def lantern(pen: Pen, look: Look) -> None:
    """A lantern."""
    pen.arc(0, -0.84, 0.13, 180, 360, (72, 64, 60), 0.03)
    pen.box(-0.24, -0.84, 0.24, -0.76, look.dark, 0.02)
    pen.box(-0.2, -0.76, 0.2, -0.12, (255, 226, 140), 0.03)
    pen.blob(path("-.06,-.2 0,-.56 .06,-.2"), (255, 150, 48))
    for x in (-0.2, 0.0, 0.2):
        pen.line([(x, -0.76), (x, -0.12)], look.main, 0.03)
    pen.box(-0.26, -0.13, 0.26, 0, look.main, 0.02)
    pen.shine(0, -0.42, 0.28, (170, 120, 40))


def candle(pen: Pen, look: Look) -> None:
    """A candle that burns."""
    pen.oval(0, -0.03, 0.3, 0.05, (168, 136, 84))
    pen.box(-0.13, -0.66, 0.13, -0.02, look.main, 0.02)
    pen.box(0.04, -0.66, 0.13, -0.02, (*look.darker, 60), 0.02)
    pen.oval(0, -0.66, 0.13, 0.03, look.light)
    pen.line([(0, -0.66), (0, -0.73)], (44, 36, 36), 0.02)
    pen.blob(path("-.065,-.76 0,-1 .065,-.76 0,-.69"), (255, 176, 56))
    pen.blob(path("-.03,-.75 0,-.88 .03,-.75 0,-.71"), (255, 244, 190))
    pen.shine(0, -0.82, 0.18, (170, 110, 40))


def book(pen: Pen, look: Look) -> None:
    """An open book."""
    pen.poly(path("-.66,-.08 -.62,-.62 0,-.5 .62,-.62 .66,-.08 0,0"), look.main)
    for side in (-1, 1):
        pen.blob(
            [
                (0, -0.06),
                (side * 0.3, -0.16),
                (side * 0.6, -0.12),
                (side * 0.57, -0.66),
                (side * 0.28, -0.68),
                (0, -0.56),
            ],
            (250, 246, 234),
        )
        for row in range(5):
            y = -0.58 + row * 0.085
            pen.line([(side * 0.08, y + 0.03), (side * 0.5, y - 0.02)], (150, 146, 146), 0.012)
    pen.line([(0, -0.56), (0, -0.04)], (196, 186, 168), 0.02)


def chair(pen: Pen, look: Look) -> None:
    """A chair with a back."""
    for x in (-0.27, 0.27):
        pen.line([(x, -0.48), (x * 1.05, 0)], look.dark, 0.055)
        pen.line([(x * 0.8, -0.46), (x * 0.72, -0.1)], look.darker, 0.045)
        pen.line([(x, -0.5), (x * 0.94, -0.98)], look.main, 0.055)
    for y in (-0.92, -0.76):
        pen.box(-0.27, y, 0.27, y + 0.09, look.main, 0.03)
    pen.blob(path("-.34,-.46 -.28,-.56 .28,-.56 .34,-.46 .3,-.42 -.3,-.42"), look.light)


def table(pen: Pen, look: Look) -> None:
    """A table; what stands on it stands at its upper edge."""
    for x, ink in (
        (-0.75, look.dark),
        (0.75, look.dark),
        (-0.55, look.darker),
        (0.55, look.darker),
    ):
        pen.poly([(x - 0.05, -0.8), (x + 0.05, -0.8), (x + 0.035, 0), (x - 0.035, 0)], ink)
    pen.poly(path("-.85,-1 .85,-1 1,-.82 -1,-.82"), look.light)
    pen.box(-1.0, -0.83, 1.0, -0.72, look.main, 0.02)
    for y in (-0.95, -0.89):
        pen.line([(-0.85, y), (0.87, y)], (*look.main, 150), 0.012)


def sofa(pen: Pen, look: Look) -> None:
    """A sofa with cushions."""
    pen.box(-0.8, -0.95, 0.8, -0.2, look.main, 0.12)
    pen.box(-0.66, -0.52, 0.66, -0.16, look.light, 0.08)
    pen.line([(0, -0.5), (0, -0.18)], look.dark, 0.015)
    for side in (-1, 1):
        pen.box(side * 0.62, -0.62, side * 0.98, -0.08, look.dark, 0.12)
        pen.box(side * 0.74, -0.1, side * 0.84, 0, (92, 64, 44))
    pen.box(-0.62, -0.18, 0.62, -0.06, look.dark, 0.03)
    pen.poly(path("-.58,-.76 -.3,-.82 -.24,-.52 -.52,-.48"), look.accent)


def umbrella(pen: Pen, look: Look) -> None:
    """An open umbrella."""
    pen.line([(0, -0.9), (0, -0.1)], (84, 64, 52), 0.03)
    pen.arc(0.07, -0.1, 0.07, 0, 180, (84, 64, 52), 0.03)
    pen.blob(
        path("-.58,-.5 -.5,-.78 0,-.97 .5,-.78 .58,-.5 .4,-.56 .2,-.5 0,-.56 -.2,-.5 -.4,-.56"),
        look.main,
    )
    pen.blob(path("-.2,-.5 -.16,-.78 0,-.97 .16,-.78 .2,-.5 0,-.56"), look.light)
    pen.blob(path(".2,-.5 .16,-.78 0,-.97 .5,-.78 .58,-.5 .4,-.56"), look.dark)
