"""A window as it is seen from inside."""

from __future__ import annotations

from burnish.images.models.sketch.stage import Stage


def paint_window(stage: Stage, x0: float, y0: float, x1: float, y1: float) -> None:
    """By day the sky, at night the lights of a town."""
    night = stage.light.dark
    stage.box(x0 - 0.012, y0 - 0.012, x1 + 0.012, y1 + 0.012, (206, 206, 214))
    stage.box(x0, y0, x1, y1, (26, 28, 66) if night else (178, 214, 238))
    if night:
        for _ in range(22):
            x, y = stage.luck.uniform(x0, x1), stage.luck.uniform((y0 + y1) / 2, y1)
            stage.shine(
                x, y, 0.004, stage.luck.choice(((150, 110, 50), (120, 40, 110), (40, 100, 140)))
            )
    middle = (x0 + x1) / 2
    stage.line([(middle, y0), (middle, y1)], (206, 206, 214), 0.008)
    stage.poly([(x0, y1), (x0 + 0.09, y0), (x0 + 0.13, y0), (x0 + 0.04, y1)], (255, 255, 255, 36))
