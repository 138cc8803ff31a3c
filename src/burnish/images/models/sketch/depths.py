"""Backdrops without a horizon: space, sky, water."""

from __future__ import annotations

from collections.abc import Callable

from burnish.images.models.sketch.skies import paint_sky, paint_stars
from burnish.images.models.sketch.stage import Stage


def paint_space(stage: Stage) -> None:
    """Stars, dust and a far planet."""
    stage.gradient(0.0, 1.0, (6, 8, 24), stage.tinted((24, 20, 56)), (10, 12, 34))
    for _ in range(9):
        ink = stage.luck.choice(((120, 60, 160), (40, 90, 170), (170, 70, 120)))
        x, y = stage.luck.random(), stage.luck.random()
        for step in range(4):
            stage.oval(x, y, 0.26 - step * 0.05, 0.15 - step * 0.03, (*ink, 15))
    if not stage.lacks("star"):
        paint_stars(stage, 150, 1.0)
    if not stage.lacks("planet") and all(one.kind != "planet" for one in stage.scene.things):
        x, y = stage.luck.choice((0.12, 0.86)), stage.luck.uniform(0.14, 0.3)
        stage.oval(x, y, 0.1, 0.1, (96, 124, 172))
        stage.oval(x - 0.02, y - 0.02, 0.07, 0.07, (132, 160, 200, 130))


def paint_underwater(stage: Stage) -> None:
    """Deep water with rays of light, weed and bubbles."""
    stage.gradient(0.0, 1.0, (116, 206, 226), stage.tinted((36, 124, 176)), (12, 52, 104))
    for index in range(6):
        x = index * 0.2 - 0.05
        stage.poly([(x, 0), (x + 0.06, 0), (x + 0.24, 0.85), (x + 0.08, 0.85)], (255, 255, 255, 22))
    stage.poly([(0, 0.94), (0.3, 0.91), (0.7, 0.95), (1, 0.92), (1, 1), (0, 1)], (206, 184, 132))
    for _ in range(10):
        x, tall = stage.luck.random(), stage.luck.uniform(0.12, 0.3)
        points = [(x + 0.014 * (step % 2), 0.95 - tall * step / 5) for step in range(6)]
        stage.line(points, stage.luck.choice(((44, 132, 92), (72, 152, 84), (152, 72, 108))), 0.014)
    for _ in range(26):
        r = stage.luck.uniform(0.004, 0.014)
        stage.oval(stage.luck.random(), stage.luck.random(), r, r, (220, 244, 252, 120))


HORIZONLESS: dict[str, Callable[[Stage], None]] = {
    "space": paint_space,
    "sky": paint_sky,
    "underwater": paint_underwater,
}
