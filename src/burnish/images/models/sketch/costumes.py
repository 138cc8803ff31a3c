"""What people and animals wear: by role, and by piece."""

from __future__ import annotations

from collections.abc import Callable

from burnish.images.models.colours import Colour, shade
from burnish.images.models.sketch.pen import Look, Pen, path

Head = tuple[float, float, float]
# Cloth and trim by role; the first role that has any dresses the body.
_OUTFITS: dict[str, tuple[Colour, Colour]] = {
    "astronaut": ((226, 230, 236), (232, 120, 48)),
    "chef": ((246, 246, 242), (60, 68, 84)),
    "knight": ((152, 160, 176), (92, 100, 120)),
    "wizard": ((84, 60, 148), (228, 188, 72)),
    "king": ((156, 36, 60), (228, 188, 72)),
    "pirate": ((148, 44, 44), (44, 40, 48)),
    "detective": ((140, 116, 84), (72, 60, 52)),
    "cowboy": ((156, 104, 60), (60, 84, 132)),
    "scientist": ((240, 244, 246), (72, 132, 168)),
    "farmer": ((64, 96, 152), (168, 52, 44)),
    "superhero": ((44, 84, 188), (216, 44, 48)),
}


def outfit(look: Look) -> tuple[Colour, Colour]:
    """The colours of body and legs."""
    role = next((one for one in look.wears if one in _OUTFITS), None)
    return _OUTFITS[role] if role else (look.main, look.accent)


def put_behind(pen: Pen, wears: tuple[str, ...], head: Head, cloth: Colour) -> None:
    """What hangs or stands behind a head: a helmet's shell, a cape."""
    x, y, r = head
    if "astronaut" in wears or "helmet" in wears:
        pen.oval(x, y - 0.05 * r, 1.62 * r, 1.6 * r, (206, 212, 222))
        pen.oval(x, y - 0.05 * r, 1.42 * r, 1.4 * r, (58, 70, 108))
    if "superhero" in wears:
        pen.part(x, y, r).poly(path("-1,1 1,1 3.2,5 -3.2,5"), (196, 40, 44))


def put_on(pen: Pen, wears: tuple[str, ...], head: Head, cloth: Colour, trim: Colour) -> None:
    """Everything else, from the body up to the hat; a hat sits on a helmet where there is one."""
    x, y, r = head
    for one in wears:
        if one in _BODY:
            _BODY[one](pen.part(x, y, r), cloth, trim)
    helmet = "astronaut" in wears or "helmet" in wears
    if helmet:
        _helmet(pen.part(x, y - 0.05 * r, r))
    # Hats are drawn in units of the head they sit on; a helmet is a larger one.
    top = pen.part(x, y - (0.62 * r if helmet else 0.0), r * (1.12 if helmet else 1.0))
    for one in wears:
        if one in _HATS:
            _HATS[one](top)


def _helmet(pen: Pen) -> None:
    pen.oval(0, 0, 1.42, 1.4, (150, 196, 240, 36))
    pen.ring(0, 0, 1.56, (236, 240, 246), 0.2)
    pen.ring(0, 0, 1.4, (140, 150, 168), 0.05)
    pen.arc(0, 0, 1.22, 195, 255, (255, 255, 255, 210), 0.1)
    pen.arc(0, 0, 1.2, 20, 52, (255, 150, 230, 150), 0.07)
    pen.box(-1.0, 1.34, 1.0, 1.68, (188, 196, 208), 0.12)
    for side in (-1, 1):
        pen.oval(side * 1.56, 0.05, 0.17, 0.3, (216, 108, 44))


def _suit(pen: Pen, cloth: Colour, trim: Colour) -> None:
    pen.box(-0.62, 2.1, 0.62, 2.85, (176, 184, 198), 0.08)
    for index, colour in enumerate(((232, 72, 64), (88, 200, 120), (72, 148, 232))):
        pen.oval(-0.36 + index * 0.36, 2.33, 0.1, 0.1, colour)
    pen.box(-0.45, 2.52, 0.45, 2.7, (64, 76, 96), 0.03)
    for side in (-1, 1):
        pen.line([(side * 1.0, 1.75), (side * 1.25, 3.2)], (*trim, 230), 0.12)


def _jacket(pen: Pen, cloth: Colour, trim: Colour) -> None:
    pen.poly(path("-.5,1.35 0,1.95 .5,1.35 .25,1.25 -.25,1.25"), (206, 52, 52))
    pen.line([(0, 1.9), (0, 3.4)], shade(cloth, -0.2), 0.04)
    for side in (-1, 1):
        for row in range(3):
            pen.oval(side * 0.3, 2.15 + 0.42 * row, 0.075, 0.075, (52, 56, 68))


def _armour(pen: Pen, cloth: Colour, trim: Colour) -> None:
    for side in (-1, 1):
        pen.oval(side * 1.45, 1.75, 0.6, 0.5, shade(cloth, 0.25))
    pen.line([(0, 1.5), (0, 3.2)], shade(cloth, -0.4), 0.06)
    pen.oval(0, -0.35, 1.12, 0.95, shade(cloth, 0.1))
    pen.box(-0.8, -0.2, 0.8, 0.05, (36, 38, 48), 0.05)
    pen.blob([(-0.1, -1.2), (0.7, -1.9), (1.0, -1.0)], (200, 44, 48))


def _robe(pen: Pen, cloth: Colour, trim: Colour) -> None:
    pen.blob(path("-.5,.45 .5,.45 .35,1.7 0,2.3 -.35,1.7"), (232, 232, 236))
    for side in (-1, 1):
        pen.line([(side * 0.5, 1.4), (side * 0.8, 3.4)], trim, 0.1)


def _badge(pen: Pen, cloth: Colour, trim: Colour) -> None:
    pen.poly([(-0.5, 1.9), (0.5, 1.9), (0, 2.7)], (248, 208, 64))
    pen.box(-0.85, -0.28, 0.85, 0.05, trim, 0.1)


def _scarf(pen: Pen, cloth: Colour, trim: Colour) -> None:
    pen.box(-0.75, 0.95, 0.75, 1.35, (204, 52, 56), 0.18)
    pen.box(0.2, 1.2, 0.58, 2.2, (180, 40, 48), 0.1)


def _bow(pen: Pen, cloth: Colour, trim: Colour) -> None:
    for side in (-1, 1):
        pen.poly([(0, 1.2), (side * 0.55, 0.95), (side * 0.55, 1.45)], (200, 44, 72))
    pen.oval(0, 1.2, 0.13, 0.14, (160, 28, 52))


def _toque(pen: Pen) -> None:
    white, grey = (250, 250, 248), (206, 208, 216)
    for dx, dy, size in ((-0.62, -1.72, 0.52), (0.62, -1.72, 0.52), (0.0, -1.95, 0.66)):
        pen.oval(dx, dy, size, size * 0.92, white)
    pen.oval(0.62, -1.62, 0.4, 0.36, (*grey, 120))
    pen.poly(path("-.78,-1.5 .78,-1.5 .74,-.75 -.74,-.75"), white)
    for fold in (-0.35, 0.0, 0.35):
        pen.line([(fold, -1.15), (fold * 1.15, -1.65)], grey, 0.05)
    pen.box(-0.8, -0.98, 0.8, -0.66, (236, 236, 238), 0.08)


def _brimmed(band: Colour, felt: Colour, wide: float) -> Callable[[Pen], None]:
    def draw(pen: Pen) -> None:
        pen.blob(path("-.75,-.75 -.6,-1.6 0,-1.5 .6,-1.6 .75,-.75"), felt)
        pen.box(-0.74, -0.98, 0.74, -0.72, band)
        pen.oval(0, -0.7, wide, 0.22, shade(felt, -0.2))

    return draw


def _pointed(pen: Pen) -> None:
    pen.blob(path("-.9,-.65 -.2,-1.9 .35,-2.6 .35,-1.8 .9,-.65"), (84, 60, 148))
    pen.oval(0, -0.65, 1.4, 0.25, (64, 44, 120))
    for dx, dy in ((-0.2, -1.2), (0.25, -1.55), (0.3, -0.95)):
        pen.oval(dx, dy, 0.1, 0.1, (248, 216, 96))


def _crown(pen: Pen) -> None:
    gold = (236, 188, 60)
    points = path("-.8,-.65 -.9,-1.5 -.4,-1.1 0,-1.65 .4,-1.1 .9,-1.5 .8,-.65")
    pen.poly(points, gold)
    pen.box(-0.8, -0.85, 0.8, -0.62, shade(gold, -0.25))
    for dx, colour in ((-0.4, (200, 44, 64)), (0.0, (60, 120, 216)), (0.4, (64, 172, 104))):
        pen.oval(dx, -0.75, 0.1, 0.1, colour)


def _eyewear(pen: Pen) -> None:
    for side in (-1, 1):
        pen.oval(side * 0.4, 0, 0.3, 0.24, (28, 28, 36, 235))
        pen.arc(side * 0.4, 0, 0.2, 200, 260, (255, 255, 255, 170), 0.05)
    pen.line([(-0.15, -0.03), (0.15, -0.03)], (28, 28, 36), 0.07)


def _headphones(pen: Pen) -> None:
    pen.arc(0, -0.1, 1.15, 180, 360, (48, 48, 56), 0.16)
    for side in (-1, 1):
        pen.box(side * 0.95, -0.35, side * 1.3, 0.35, (220, 64, 72), 0.12)


def _umbrella(pen: Pen) -> None:
    pen.line([(1.5, 2.6), (1.1, -2.6)], (84, 64, 52), 0.14)
    canopy = (
        "-2.6,-1.3 -2.1,-2.5 .8,-3.4 3.3,-2.4 3.9,-1.2 2.6,-1.6 1.6,-1.3 .6,-1.6 -.6,-1.3 -1.6,-1.6"
    )
    pen.blob(path(canopy), (204, 48, 52))
    pen.blob(path("-.6,-1.3 -.4,-2.5 .8,-3.4 1.8,-2.5 1.6,-1.3 .6,-1.6"), (224, 92, 88))


_BODY: dict[str, Callable[[Pen, Colour, Colour], None]] = {
    "astronaut": _suit,
    "chef": _jacket,
    "knight": _armour,
    "wizard": _robe,
    "superhero": _badge,
    "scarf": _scarf,
    "bow": _bow,
}
_HATS: dict[str, Callable[[Pen], None]] = {
    "chef": _toque,
    "wizard": _pointed,
    "king": _crown,
    "crown": _crown,
    "pirate": _brimmed((240, 240, 240), (40, 38, 46), 1.25),
    "detective": _brimmed((52, 44, 40), (124, 100, 72), 1.35),
    "cowboy": _brimmed((92, 56, 36), (168, 116, 68), 1.7),
    "farmer": _brimmed((168, 60, 52), (228, 196, 120), 1.6),
    "hat": _brimmed((44, 40, 52), (108, 60, 64), 1.3),
    "glasses": _eyewear,
    "scientist": _eyewear,
    "headphones": _headphones,
    "umbrella": _umbrella,
}
