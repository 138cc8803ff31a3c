"""A diner, with neon over it all."""

from __future__ import annotations

from math import cos, pi, sin

from burnish.images.models.colours import Colour, shade
from burnish.images.models.sketch.pen import path
from burnish.images.models.sketch.stage import Stage
from burnish.images.models.sketch.windows import paint_window

_TUBES = ((255, 60, 170), (40, 220, 255), (255, 170, 50), (140, 90, 255))


def paint_diner(stage: Stage) -> None:
    """A diner: a tiled wall, a counter with stools, a chequered floor, and neon over it all."""
    wall = stage.tinted(stage.light.wall[0])
    stage.gradient(0.0, stage.horizon, shade(wall, -0.25), wall)
    paint_window(stage, 0.36, 0.2, 0.62, 0.48)
    _shelf(stage, 0.68, 0.98, 0.46)
    _checks(stage, stage.horizon, (60, 52, 76), (206, 200, 214))
    counter = stage.horizon - 0.12
    stage.box(0, counter, 1, counter + 0.03, (206, 210, 220))
    stage.box(0, counter + 0.03, 1, stage.horizon + 0.04, (168, 44, 72))
    for index in range(12):
        stage.box(
            index / 11 - 0.004,
            counter + 0.03,
            index / 11 + 0.004,
            stage.horizon + 0.04,
            (206, 210, 220),
        )
    for index in range(5):
        x = 0.1 + index * 0.2
        stage.box(x - 0.008, counter + 0.1, x + 0.008, stage.horizon + 0.14, (184, 188, 198))
        stage.oval(x, counter + 0.1, 0.055, 0.022, (200, 52, 80))
        stage.oval(x, stage.horizon + 0.14, 0.04, 0.012, (150, 154, 166))
    _neon_signs(stage)
    for index in range(3):
        x = 0.2 + index * 0.3
        stage.line([(x, 0), (x, 0.1)], (50, 44, 60), 0.005)
        stage.poly(
            [(x - 0.02, 0.1), (x + 0.02, 0.1), (x + 0.05, 0.14), (x - 0.05, 0.14)], (220, 72, 96)
        )
        stage.shine(x, 0.15, 0.035, (190, 150, 90))


def _neon_signs(stage: Stage) -> None:
    """Tubes of light: a frame, a cup, an arrow; no letters, so that no text is ever drawn."""
    pink, cyan, amber, _ = _TUBES
    rail = stage.horizon - 0.14
    stage.tube([(0, rail), (1, rail)], pink, 0.008)
    stage.tube([(0, 0.045), (1, 0.045)], cyan, 0.008)
    ring = [(0.17 + 0.13 * cos(a * pi / 12), 0.3 + 0.125 * sin(a * pi / 12)) for a in range(25)]
    stage.tube(ring, cyan, 0.011)
    cup = path("-.06,-.03 -.05,.04 -.025,.06 .025,.06 .05,.04 .06,-.03 -.06,-.03")
    stage.tube([(0.165 + x, 0.31 + y) for x, y in cup], pink, 0.009)
    stage.tube([(0.22, 0.295), (0.25, 0.3), (0.245, 0.335), (0.215, 0.34)], pink, 0.008)
    for x in (0.14, 0.165, 0.19):
        steam = path("0,.04 .008,.025 -.006,.01 0,0")
        stage.tube([(x + dx, 0.22 + dy) for dx, dy in steam], amber, 0.006)
    arrow = path("0,0 .14,0 .14,.07 .18,.07 .11,.15 .04,.07 .08,.07 .08,.03 0,.03 0,0")
    stage.tube([(0.75 + x, 0.16 + y) for x, y in arrow], amber, 0.009)


def _shelf(stage: Stage, x0: float, x1: float, y: float) -> None:
    stage.box(x0, y, x1, y + 0.012, (120, 92, 84))
    x = x0 + 0.015
    while x < x1 - 0.03:
        tall = stage.luck.uniform(0.05, 0.1)
        ink = stage.luck.choice(((92, 160, 120), (200, 92, 72), (84, 124, 196), (220, 180, 84)))
        stage.box(x, y - tall, x + 0.026, y, ink, 0.006)
        stage.box(x + 0.008, y - tall - 0.02, x + 0.018, y - tall, ink)
        x += 0.042


def _checks(stage: Stage, top: float, dark: Colour, light: Colour) -> None:
    stage.gradient(top, 1.0, shade(light, -0.2), light)
    rows = 6
    for row in range(rows):
        near, far = (
            top + (1 - top) * (row / rows) ** 1.6,
            top + (1 - top) * ((row + 1) / rows) ** 1.6,
        )
        for column in range(-8, 9):
            if (row + column) % 2:
                continue
            spread = [
                0.5 + (column + dx) * 0.11 * (0.6 + 1.6 * (y - top))
                for y, dx in ((near, 0), (near, 1), (far, 1), (far, 0))
            ]
            stage.poly(
                [(spread[0], near), (spread[1], near), (spread[2], far), (spread[3], far)], dark
            )
