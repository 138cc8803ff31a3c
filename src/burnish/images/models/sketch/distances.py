"""What stands at the horizon."""

from __future__ import annotations

from collections.abc import Callable

from burnish.images.models.colours import Colour, mix, shade
from burnish.images.models.sketch.pen import Look, Pen
from burnish.images.models.sketch.plants import pine, tree
from burnish.images.models.sketch.stage import Stage

_LIT = (255, 218, 132)


def paint_mountains(stage: Stage) -> None:
    """Ridges, the far ones paler, with snow on the peaks."""
    haze = stage.light.sky[2]
    rock = stage.tinted((88, 100, 128))
    for depth, share in ((0.34, 0.55), (0.24, 0.25)):
        ink = mix(rock, haze, share)
        x = -0.1
        while x < 1.1:
            wide, tall = stage.luck.uniform(0.22, 0.4), depth * stage.luck.uniform(0.75, 1.15)
            _peak(stage, x + wide / 2, wide, tall, ink, haze)
            x += wide * 0.6


def _peak(stage: Stage, x: float, wide: float, tall: float, ink: Colour, haze: Colour) -> None:
    base, top = stage.horizon + 0.01, stage.horizon - tall
    lean = stage.luck.uniform(-0.03, 0.03)
    stage.poly([(x - wide / 2, base), (x + lean, top), (x + wide / 2, base)], ink)
    shadow = shade(ink, -0.22)
    bend = (x + lean + wide * 0.06, top + tall * 0.5)
    stage.poly([(x + lean, top), bend, (x + wide * 0.02, base), (x + wide / 2, base)], shadow)
    snow = mix((250, 250, 255), haze, 0.15)
    cut = 0.26
    stage.poly(
        [
            (x + lean, top),
            (x + lean - wide * 0.5 * cut, top + tall * cut),
            (x + lean - wide * 0.05, top + tall * cut * 0.75),
            (x + lean + wide * 0.02, top + tall * cut * 1.15),
            (x + lean + wide * 0.5 * cut, top + tall * cut),
        ],
        snow,
    )


def paint_hills(stage: Stage) -> None:
    """Soft hills, one behind the other."""
    green = stage.tinted((104, 156, 84))
    for step, share in ((0, 0.6), (1, 0.35), (2, 0.1)):
        ink = mix(green, stage.light.sky[2], share)
        for _ in range(3):
            x, r = stage.luck.random(), stage.luck.uniform(0.3, 0.5)
            stage.oval(x, stage.horizon + 0.1 + step * 0.04, r, 0.26 - step * 0.05, ink)


def paint_city(stage: Stage) -> None:
    """A skyline with windows, lit when it is dark."""
    for row, share in ((0, 0.5), (1, 0.15)):
        x = -0.02
        while x < 1.0:
            wide = stage.luck.uniform(0.06, 0.12)
            tall = stage.luck.uniform(0.14, 0.42) * (1.0 if row == 0 else 0.72)
            body = stage.tinted(stage.luck.choice(((92, 104, 132), (116, 108, 124), (76, 92, 116))))
            _block(stage, x, wide, tall, mix(body, stage.light.sky[2], share), row == 1)
            x += wide + 0.006


def _block(stage: Stage, x: float, wide: float, tall: float, ink: Colour, near: bool) -> None:
    base = stage.horizon + 0.02
    top = base - tall
    stage.box(x, top, x + wide, base, ink)
    stage.box(x + wide * 0.66, top, x + wide, base, shade(ink, -0.2))
    if stage.luck.random() < 0.35:
        stage.line([(x + wide / 2, top), (x + wide / 2, top - 0.05)], shade(ink, -0.3), 0.004)
    dark = shade(ink, -0.35)
    rows, columns = int(tall / 0.035), int(wide / 0.022)
    for row in range(rows if near else rows // 2):
        for column in range(columns):
            lit = stage.luck.random() < (0.5 if stage.light.dark else 0.12)
            left, up = x + 0.007 + column * 0.022, top + 0.014 + row * 0.035
            stage.box(left, up, left + 0.011, up + 0.018, _LIT if lit else dark)
            if lit and stage.light.dark:
                stage.shine(left + 0.005, up + 0.009, 0.006, (110, 84, 36))


def paint_forest(stage: Stage) -> None:
    """Rows of trees, the nearest at the sides."""
    greens = ((52, 100, 72), (64, 120, 68), (84, 128, 60))
    for row, share in ((0, 0.5), (1, 0.25), (2, 0.0)):
        for index in range(10 - row * 2):
            x = (index + stage.luck.random()) / (10 - row * 2)
            if row == 2 and 0.24 < x < 0.76:
                continue
            tall = stage.luck.uniform(0.26, 0.36) * (1 + row * 0.35)
            green = mix(stage.tinted(stage.luck.choice(greens)), stage.light.sky[2], share)
            pen = Pen(stage.canvas, x, stage.horizon + 0.03 + row * 0.06, tall, masked=False)
            draw = pine if stage.luck.random() < 0.6 else tree
            draw(pen, Look(green, green))


FAR: dict[str, Callable[[Stage], None]] = {
    "mountains": paint_mountains,
    "hills": paint_hills,
    "city": paint_city,
    "forest": paint_forest,
}
