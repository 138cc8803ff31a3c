"""What is under foot, or under keel."""

from __future__ import annotations

from collections.abc import Callable
from math import sin

from burnish.images.models.colours import mix, shade
from burnish.images.models.sketch.stage import Stage


def paint_field(stage: Stage) -> None:
    """Grass, with a few flowers."""
    green = stage.tinted((112, 164, 76))
    stage.gradient(
        stage.horizon, 1.0, mix(green, stage.light.sky[2], 0.25), green, shade(green, -0.3)
    )
    stage.tufts(stage.horizon + 0.02, 1.0, 200, green)


def paint_garden(stage: Stage) -> None:
    """Grass with many flowers."""
    paint_field(stage)
    for _ in range(46):
        depth = stage.luck.random()
        y = stage.horizon + 0.05 + (0.94 - stage.horizon) * depth
        size = 0.005 + 0.01 * depth
        ink = stage.luck.choice(((240, 112, 140), (250, 208, 84), (236, 236, 250), (172, 120, 216)))
        x = stage.luck.random()
        for dx, dy in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            stage.oval(x + dx * size * 0.8, y + dy * size * 0.8, size * 0.7, size * 0.7, ink)
        stage.oval(x, y, size * 0.5, size * 0.5, (255, 228, 120))


def paint_water(stage: Stage) -> None:
    """Water that mirrors the sky, with ripples."""
    deep = stage.tinted((40, 104, 148))
    near, far = mix(deep, stage.light.sky[0], 0.25), mix(deep, stage.light.sky[2], 0.6)
    stage.gradient(stage.horizon, 1.0, far, mix(near, far, 0.4), near)
    stage.strokes(stage.horizon + 0.01, 1.0, 90, mix(far, (255, 255, 255), 0.4), 0.1)
    stage.strokes(stage.horizon + 0.05, 1.0, 60, shade(near, -0.3), 0.12)


def paint_sea(stage: Stage) -> None:
    """Water with waves."""
    paint_water(stage)
    foam = mix(stage.light.sky[2], (255, 255, 255), 0.6)
    for step in range(5):
        y, high = stage.horizon + 0.07 + step * 0.075, 0.007 + step * 0.003
        start = stage.luck.random()
        crest = [
            (x / 40, y - high * abs(sin((x / 40 + start) * (26 - step * 3)))) for x in range(41)
        ]
        stage.line(crest, (*foam, 100), 0.003 + step * 0.0012)


def paint_lake(stage: Stage) -> None:
    """Water with a far shore."""
    paint_water(stage)
    shore = mix((84, 132, 84), stage.light.sky[2], 0.35)
    stage.ridge(stage.horizon - 0.004, 0.028, 26, stage.horizon + 0.012, shore)
    for _ in range(9):
        x = stage.luck.choice((stage.luck.uniform(0, 0.12), stage.luck.uniform(0.88, 1.0)))
        tall = stage.luck.uniform(0.1, 0.2)
        stage.line([(x, 1.0), (x + 0.01, 1.0 - tall)], (92, 132, 68), 0.006)
        stage.oval(x + 0.01, 1.0 - tall, 0.007, 0.024, (116, 80, 48))


def paint_river(stage: Stage) -> None:
    """A river through grass."""
    paint_field(stage)
    h = stage.horizon
    deep = mix(stage.tinted((56, 120, 164)), stage.light.sky[2], 0.3)
    bed = [
        (0.52, h),
        (0.56, h),
        (0.46, h + 0.1),
        (0.62, h + 0.22),
        (0.78, 1.0),
        (0.2, 1.0),
        (0.4, h + 0.22),
        (0.42, h + 0.1),
    ]
    stage.poly(bed, deep)
    for _ in range(26):
        y = stage.luck.uniform(h + 0.05, 1.0)
        x = 0.5 + stage.luck.uniform(-0.12, 0.12) * (y - h) * 2
        stage.line([(x, y), (x + 0.05, y)], (*mix(deep, (255, 255, 255), 0.5), 150), 0.004)


def paint_beach(stage: Stage) -> None:
    """Sea and sand."""
    paint_sea(stage)
    sand = stage.tinted((236, 212, 160))
    line = stage.horizon + 0.17
    stage.poly(
        [(0, line + 0.03), (0.3, line), (0.7, line + 0.02), (1, line - 0.01), (1, 1), (0, 1)], sand
    )
    points = [(0, line + 0.028), (0.3, line - 0.002), (0.7, line + 0.018), (1, line - 0.012)]
    stage.line(points, (255, 255, 255, 210), 0.012)
    stage.strokes(line + 0.05, 1.0, 70, shade(sand, -0.15), 0.03)


def paint_desert(stage: Stage) -> None:
    """Dunes."""
    sand = stage.tinted((232, 180, 108))
    stage.gradient(stage.horizon, 1.0, mix(sand, stage.light.sky[2], 0.3), sand)
    for step in range(4):
        y = stage.horizon + step * 0.09
        crest = stage.luck.uniform(0.2, 0.8)
        ink = mix(sand, (160, 96, 52), 0.08 + step * 0.06)
        stage.poly(
            [(0, y + 0.05), (crest, y - 0.03 - step * 0.008), (1, y + 0.07), (1, 1), (0, 1)], ink
        )
        stage.poly(
            [(crest, y - 0.03 - step * 0.008), (1, y + 0.07), (1, y + 0.2)], shade(ink, -0.18)
        )
    stage.strokes(stage.horizon + 0.1, 1.0, 60, shade(sand, -0.2), 0.05)


def paint_snow(stage: Stage) -> None:
    """Snow on the ground."""
    white = stage.tinted((240, 246, 252), 0.3)
    stage.gradient(stage.horizon, 1.0, mix(white, stage.light.sky[2], 0.4), white, (208, 220, 236))
    for step in range(3):
        y = stage.horizon + 0.12 + step * 0.12
        stage.oval(stage.luck.random(), y + 0.14, 0.6, 0.14, (*shade(white, -0.06), 160))


def paint_street(stage: Stage) -> None:
    """A road with its kerb and lines."""
    grey = stage.tinted((104, 106, 116))
    stage.gradient(stage.horizon, 1.0, mix(grey, stage.light.sky[2], 0.35), grey, shade(grey, -0.3))
    stage.box(
        0, stage.horizon, 1, stage.horizon + 0.05, mix((176, 172, 168), stage.light.sky[2], 0.2)
    )
    stage.box(0, stage.horizon + 0.046, 1, stage.horizon + 0.058, shade(grey, -0.3))
    for index in range(5):
        x = index * 0.24 - 0.06
        stage.poly(
            [(x, 0.95), (x + 0.12, 0.95), (x + 0.13, 0.965), (x - 0.01, 0.965)],
            (236, 228, 196, 190),
        )
    stage.strokes(stage.horizon + 0.08, 1.0, 50, shade(grey, 0.15), 0.02)
    if stage.scene.light == "neon" and not stage.lacks("light", "neon"):
        for x, ink in ((0.18, (255, 60, 170)), (0.55, (40, 220, 255)), (0.86, (255, 170, 50))):
            y = stage.horizon - stage.luck.uniform(0.08, 0.2)
            stage.tube([(x - 0.04, y), (x + 0.04, y), (x + 0.04, y + 0.03)], ink, 0.007)
            stage.canvas.soften([(x, 0.86, 0.05, 0.1, 90)], ink)


GROUND: dict[str, Callable[[Stage], None]] = {
    "field": paint_field,
    "garden": paint_garden,
    "lake": paint_lake,
    "river": paint_river,
    "sea": paint_sea,
    "beach": paint_beach,
    "desert": paint_desert,
    "snowfield": paint_snow,
    "street": paint_street,
}
WATERS = frozenset({"lake", "river", "sea", "underwater"})
