"""Backdrops with walls."""

from __future__ import annotations

from collections.abc import Callable

from burnish.images.models.colours import mix, shade
from burnish.images.models.sketch.diner import paint_diner
from burnish.images.models.sketch.stage import Stage
from burnish.images.models.sketch.windows import paint_window


def paint_kitchen(stage: Stage) -> None:
    """A kitchen: tiles, a worktop, pans on the wall."""
    wall = stage.tinted((228, 224, 214))
    stage.gradient(0.0, stage.horizon, shade(wall, -0.1), wall)
    for row in range(9):
        for column in range(13):
            if (row * 5 + column * 3) % 4 == 0:
                x, y = column / 12, row * 0.075
                stage.box(x, y, x + 0.075, y + 0.066, (*shade(wall, -0.12), 110))
    for x in (0.12, 0.24, 0.36):
        stage.line([(x, 0.1), (x, 0.2)], (84, 72, 64), 0.006)
        stage.oval(x, 0.25, 0.045, 0.05, (150, 104, 72))
    paint_window(stage, 0.62, 0.1, 0.9, 0.36)
    stage.gradient(stage.horizon, 1.0, (188, 144, 100), (146, 104, 70))
    stage.box(0, stage.horizon - 0.02, 1, stage.horizon + 0.025, (222, 216, 206))


def paint_room(stage: Stage) -> None:
    """A room: a wall with a picture and a window, and a wooden floor."""
    wall = stage.tinted(stage.light.wall[0])
    stage.gradient(0.0, stage.horizon, shade(wall, -0.08), wall)
    paint_window(stage, 0.08, 0.12, 0.32, 0.44)
    stage.box(0.7, 0.16, 0.9, 0.36, (120, 84, 56))
    stage.box(0.715, 0.175, 0.885, 0.345, (168, 196, 204))
    stage.poly(
        [(0.715, 0.345), (0.78, 0.24), (0.83, 0.3), (0.86, 0.26), (0.885, 0.345)], (96, 128, 108)
    )
    floor = mix((176, 128, 84), stage.light.wall[1], 0.3)
    stage.gradient(stage.horizon, 1.0, shade(floor, -0.15), floor)
    stage.box(0, stage.horizon - 0.02, 1, stage.horizon + 0.008, shade(wall, 0.45))
    for index in range(11):
        x = (index - 5) * 0.16
        stage.line(
            [(0.5 + x * 0.7, stage.horizon + 0.01), (0.5 + x * 1.6, 1.0)],
            shade(floor, -0.25),
            0.003,
        )


def paint_library(stage: Stage) -> None:
    """Shelves of books."""
    stage.gradient(0.0, stage.horizon, (84, 56, 40), (108, 72, 48))
    inks = (
        (148, 52, 48),
        (52, 84, 120),
        (84, 112, 72),
        (184, 144, 72),
        (104, 68, 100),
        (60, 60, 68),
    )
    for row in range(5):
        base = 0.13 + row * 0.14
        if base > stage.horizon:
            break
        x = 0.01
        while x < 0.97:
            wide, tall = stage.luck.uniform(0.014, 0.032), stage.luck.uniform(0.07, 0.11)
            stage.box(x, base - tall, x + wide, base, stage.luck.choice(inks), 0.003)
            x += wide + 0.002
        stage.box(0, base, 1, base + 0.016, (132, 92, 60))
    floor = (120, 76, 60)
    stage.gradient(stage.horizon, 1.0, shade(floor, -0.2), floor)


def paint_studio(stage: Stage) -> None:
    """A seamless backdrop with a pool of light."""
    top, low = stage.light.wall
    top, low = stage.tinted(top, 0.75), stage.tinted(low, 0.75)
    stage.gradient(0.0, 1.0, mix(top, low, 0.45), top, mix(top, low, 0.5), low)
    pool = [(0.5, 0.46, r, r * 0.86, 14 * n) for n, r in enumerate((0.6, 0.5, 0.41, 0.33, 0.26))]
    stage.canvas.soften(pool, mix(top, (255, 255, 255), 0.45))


def paint_tabletop(stage: Stage) -> None:
    """A table's top before a plain wall."""
    wall = stage.tinted(stage.light.wall[0])
    stage.gradient(0.0, stage.horizon, shade(wall, -0.22), wall)
    wood = (172, 120, 76)
    stage.gradient(stage.horizon, 1.0, shade(wood, 0.12), wood, shade(wood, -0.25))
    stage.strokes(stage.horizon + 0.015, 1.0, 55, shade(wood, -0.28), 0.22)
    stage.box(0, stage.horizon - 0.004, 1, stage.horizon + 0.004, shade(wood, -0.35))


def paint_wall(stage: Stage) -> None:
    """An outer wall over a pavement."""
    wall = stage.tinted(stage.light.wall[0], 0.75)
    stage.gradient(0.0, stage.horizon, wall, shade(wall, -0.12))
    for _ in range(46):
        x, y = stage.luck.random(), stage.luck.random() * stage.horizon
        for dx, dy in ((0, 0), (0.07, 0.0), (0.03, 0.03)):
            ink = (*shade(wall, stage.luck.choice((-0.12, -0.2, 0.2))), 70)
            if y + dy + 0.024 < stage.horizon:
                stage.box(x + dx, y + dy, x + dx + 0.06, y + dy + 0.024, ink, 0.003)
    stone = mix((168, 160, 152), stage.light.wall[1], 0.4)
    stage.gradient(stage.horizon, 1.0, shade(stone, -0.18), stone)
    for index in range(8):
        x = (index - 3.5) * 0.2
        stage.line(
            [(0.5 + x * 0.8, stage.horizon), (0.5 + x * 1.7, 1.0)], shade(stone, -0.25), 0.003
        )
    for y in (0.3, 0.62):
        at = stage.horizon + (1 - stage.horizon) * y
        stage.line([(0, at), (1, at)], shade(stone, -0.25), 0.003)


def paint_stage(stage: Stage) -> None:
    """A theatre's stage with curtains and a spotlight."""
    stage.gradient(0.0, 1.0, (24, 18, 28), (52, 36, 44))
    stage.gradient(stage.horizon, 1.0, (104, 68, 48), (72, 44, 34))
    for step in range(5):
        half = 0.1 + step * 0.035
        stage.poly(
            [(0.47, 0), (0.53, 0), (0.5 + half * 1.5, 0.95), (0.5 - half * 1.5, 0.95)],
            (255, 240, 200, 16),
        )
    for index in range(5):
        for x in (index * 0.05, 1 - index * 0.05):
            ink = shade((156, 28, 44), -0.08 * (index % 2) - 0.1)
            stage.box(x - 0.028, 0, x + 0.028, 0.98, ink, 0.02)


INDOORS: dict[str, Callable[[Stage], None]] = {
    "diner": paint_diner,
    "kitchen": paint_kitchen,
    "room": paint_room,
    "library": paint_library,
    "studio": paint_studio,
    "tabletop": paint_tabletop,
    "wall": paint_wall,
    "stage": paint_stage,
}
