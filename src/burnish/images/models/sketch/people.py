"""People and robots, whole and as a bust."""

from __future__ import annotations

from burnish.images.models.colours import Colour, shade
from burnish.images.models.sketch.costumes import outfit, put_behind, put_on
from burnish.images.models.sketch.pen import Look, Pen, path

_SKINS = ((244, 206, 176), (224, 172, 132), (176, 120, 84), (124, 80, 56))
_HAIRS = ((60, 42, 34), (28, 24, 28), (132, 84, 44), (188, 140, 72))


def person(pen: Pen, look: Look) -> None:
    """A standing figure."""
    skin, hair = _SKINS[look.pick % 4], _HAIRS[look.pick // 4 % 4]
    cloth, trim = outfit(look)
    put_behind(pen, look.wears, (0.0, -0.85, 0.1), cloth)
    for side in (-1, 1):
        leg = [
            (side * 0.02, -0.45),
            (side * 0.13, -0.45),
            (side * 0.11, -0.04),
            (side * 0.03, -0.04),
        ]
        pen.poly(leg, shade(trim, -0.15))
        pen.box(side * 0.02, -0.05, side * 0.15, 0.0, shade(trim, -0.6), 0.02)
        pen.line([(side * 0.14, -0.69), (side * 0.2, -0.52), (side * 0.17, -0.38)], cloth, 0.075)
        pen.oval(side * 0.17, -0.36, 0.035, 0.04, skin)
    body = path("-.15,-.72 .15,-.72 .17,-.6 .14,-.42 -.14,-.42 -.17,-.6")
    pen.blob(body, cloth)
    pen.poly(path(".03,-.73 .15,-.72 .15,-.43 .06,-.43"), (*shade(cloth, -0.4), 90))
    pen.box(-0.035, -0.78, 0.035, -0.7, shade(skin, -0.15))
    pen.oval(0, -0.86, 0.105, 0.11, hair)
    pen.oval(0, -0.85, 0.09, 0.1, skin)
    pen.blob(path("-.1,-.86 -.07,-.95 .05,-.965 .1,-.87 .03,-.915"), hair)
    for side in (-1, 1):
        pen.oval(side * 0.035, -0.855, 0.011, 0.014, (40, 32, 36))
    pen.curve([(-0.03, -0.805), (0, -0.795), (0.03, -0.805)], shade(skin, -0.45), 0.01)
    put_on(pen, look.wears, (0.0, -0.85, 0.1), cloth, trim)


def bust(pen: Pen, look: Look) -> None:
    """Head and shoulders, with a face."""
    skin, hair = _SKINS[look.pick % 4], _HAIRS[look.pick // 4 % 4]
    cloth, trim = outfit(look)
    head = (0.0, -0.58, 0.2)
    put_behind(pen, look.wears, head, cloth)
    pen.blob(
        path("-.52,.12 -.5,-.1 -.36,-.24 0,-.29 .36,-.24 .5,-.1 .52,.12"),
        cloth,
    )
    pen.blob(path(".14,-.27 .37,-.23 .5,-.1 .52,.12 .24,.12"), (*shade(cloth, -0.4), 80))
    pen.blob(path("-.085,-.26 -.08,-.42 .08,-.42 .085,-.26 0,-.21"), shade(skin, -0.18))
    long_hair = look.pick % 2 == 1
    if long_hair:
        pen.blob(path("-.24,-.25 -.24,-.65 0,-.86 .24,-.65 .24,-.25 .1,-.3 -.1,-.3"), hair)
    else:
        pen.blob(path("-.205,-.5 -.2,-.72 0,-.83 .2,-.72 .205,-.5 0,-.45"), hair)
    _face(pen.part(0.0, head[1], 1.0), skin, hair)
    put_on(pen, look.wears, head, cloth, trim)


def _face(pen: Pen, skin: Colour, hair: Colour) -> None:
    pen.blob(
        path("-.175,-.02 -.14,-.17 0,-.205 .14,-.17 .175,-.02 .13,.14 0,.215 -.13,.14"),
        skin,
    )
    pen.blob(path(".03,-.2 .14,-.17 .175,-.02 .13,.14 .01,.21 .09,0"), (*shade(skin, -0.35), 70))
    for side in (-1, 1):
        x = side * 0.075
        pen.oval(side * 0.178, 0.01, 0.025, 0.045, shade(skin, -0.1))
        pen.oval(x, -0.005, 0.036, 0.024, (250, 250, 246))
        pen.oval(x + 0.004, -0.005, 0.019, 0.022, (72, 92, 112))
        pen.oval(x + 0.004, -0.005, 0.01, 0.012, (20, 18, 24))
        pen.oval(x - 0.003, -0.012, 0.005, 0.005, (255, 255, 255))
        pen.curve([(x - 0.04, -0.012), (x, -0.034), (x + 0.04, -0.01)], shade(skin, -0.6), 0.009)
        pen.curve([(x - 0.045, -0.055), (x, -0.075), (x + 0.04, -0.058)], shade(hair, -0.2), 0.016)
        pen.oval(side * 0.1, 0.075, 0.035, 0.022, (230, 120, 110, 60))
    pen.curve([(0.008, -0.01), (0.024, 0.06), (-0.008, 0.068)], shade(skin, -0.35), 0.009)
    pen.blob(path("-.055,.115 0,.106 .055,.115 0,.142"), (188, 84, 84))
    pen.curve([(-0.06, 0.115), (0, 0.124), (0.06, 0.113)], (120, 48, 52), 0.006)
    pen.blob(path("-.185,-.02 -.16,-.19 .02,-.235 .17,-.18 .185,-.03 .12,-.13 -.06,-.125"), hair)
    pen.curve([(-0.11, -0.17), (0, -0.205), (0.1, -0.175)], (*shade(hair, 0.35), 120), 0.014)


def robot(pen: Pen, look: Look) -> None:
    """A friendly machine."""
    main, dark = look.main, look.dark
    put_behind(pen, look.wears, (0.0, -0.8, 0.15), main)
    for side in (-1, 1):
        pen.box(side * 0.05, -0.3, side * 0.13, -0.04, dark, 0.02)
        pen.box(side * 0.03, -0.06, side * 0.18, 0, look.darker, 0.03)
        pen.line([(side * 0.22, -0.56), (side * 0.31, -0.44), (side * 0.27, -0.3)], dark, 0.055)
        pen.ring(side * 0.265, -0.26, 0.035, look.darker, 0.022)
    pen.box(-0.22, -0.63, 0.22, -0.26, main, 0.06)
    pen.box(0.08, -0.63, 0.22, -0.26, (*look.darker, 60), 0.06)
    pen.box(-0.12, -0.54, 0.12, -0.36, shade(main, -0.7), 0.02)
    for index, colour in enumerate(((240, 88, 80), (248, 208, 72), (96, 216, 128))):
        pen.oval(-0.07 + index * 0.07, -0.41, 0.018, 0.018, colour)
    pen.line(path("-.09,-.47 -.04,-.47 -.02,-.51 .02,-.45 .09,-.47"), (96, 232, 216), 0.012)
    pen.box(-0.06, -0.68, 0.06, -0.62, dark)
    pen.box(-0.19, -0.94, 0.19, -0.67, look.light, 0.07)
    pen.box(0.06, -0.94, 0.19, -0.67, (*look.darker, 50), 0.07)
    pen.box(-0.15, -0.88, 0.15, -0.75, (28, 32, 44), 0.05)
    for side in (-1, 1):
        pen.oval(side * 0.07, -0.815, 0.035, 0.035, (96, 224, 240))
        pen.oval(side * 0.07 - 0.01, -0.825, 0.012, 0.012, (240, 255, 255))
        pen.shine(side * 0.07, -0.815, 0.03, (40, 110, 120))
        pen.box(side * 0.19, -0.86, side * 0.22, -0.76, dark, 0.01)
    pen.line([(0, -0.94), (0, -0.98)], dark, 0.018)
    pen.oval(0, -0.985, 0.022, 0.022, (240, 88, 80))
    put_on(pen, look.wears, (0.0, -0.8, 0.15), main, dark)
