"""The sky with its sun, moon, stars and clouds."""

from __future__ import annotations

from burnish.images.models.colours import Colour, mix
from burnish.images.models.sketch.stage import Stage


def paint_sky(stage: Stage) -> None:
    """The sky with its sun, stars and clouds."""
    top, middle, low = stage.light.sky
    if stage.tint and not stage.scene.backdrops[1:]:
        top, middle = stage.tinted(top, 0.55), stage.tinted(middle, 0.4)
    stage.gradient(0.0, min(1.0, stage.horizon + 0.02), top, middle, low)
    shown = {thing.kind for thing in stage.scene.things}
    if stage.light.dark and not stage.lacks("star"):
        paint_stars(stage, 70, stage.horizon)
    if stage.light.dark and stage.scene.light == "night" and "moon" not in shown:
        if not stage.lacks("moon"):
            _disc(stage, stage.luck.uniform(0.68, 0.86), 0.17, 0.055, (240, 238, 222))
    elif stage.light.sun and "sun" not in shown and not stage.lacks("sun"):
        low_sun = stage.scene.light in ("sunset", "sunrise", "golden-hour", "backlit")
        height = stage.horizon - 0.1 if low_sun else 0.15
        _disc(stage, stage.luck.uniform(0.16, 0.84), height, 0.07, stage.light.sun)
    if not stage.lacks("cloud") and "minimal" not in stage.scene.styles:
        _clouds(stage)


def paint_stars(stage: Stage, count: int, bottom: float) -> None:
    """Small lights."""
    for _ in range(count):
        bright = stage.luck.choice((90, 150, 220))
        spot = stage.luck.choice((0.0012, 0.0018, 0.003))
        ink = (bright, bright, min(255, bright + 30))
        stage.spark(stage.luck.random(), stage.luck.random() * bottom, spot, ink)


def _disc(stage: Stage, x: float, y: float, r: float, ink: Colour) -> None:
    rings = ((3.4, 10), (2.8, 20), (2.3, 34), (1.8, 54), (1.4, 90))
    stage.canvas.soften([(x, y, r * grow, r * grow, alpha) for grow, alpha in rings], ink)
    stage.oval(x, y, r, r, ink)
    stage.shine(x, y, r * 0.9, mix(ink, (0, 0, 0), 0.7))


def _clouds(stage: Stage) -> None:
    ink = mix(stage.light.sky[2], (255, 255, 255), 0.1 if stage.light.dark else 0.6)
    puffs, alpha = [], 70 if stage.light.dark else 190
    for _ in range(4):
        x, y = stage.luck.random(), stage.luck.uniform(0.06, max(0.1, stage.horizon - 0.16))
        size = stage.luck.uniform(0.06, 0.12)
        for puff in range(5):
            tall = size * (0.24, 0.4, 0.52, 0.42, 0.22)[puff]
            puffs.append(
                (x + (puff - 2) * size * 0.6, y - tall * 0.4, size * 0.5, tall * 0.7, alpha)
            )
        puffs.append((x, y, size * 1.7, size * 0.16, alpha))
    stage.canvas.soften(puffs, ink)
