"""What stands out of a picture: where, how large, how clearly."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from PIL import Image, ImageChops, ImageFilter, ImageStat

SIDE = 48
_PIXELS = SIDE * SIDE


class Subject(NamedTuple):
    """Its share of the picture, its centre, how far it reaches, and how it differs from the rest.

    `margin` is how much of it keeps away from the picture's edge.
    """

    share: float
    centre: tuple[float, float]
    reach: float
    separation: float
    margin: float


def find_subject(small: Image.Image) -> Subject:
    """What stands out of a picture of SIDE pixels, with a pull towards the middle."""
    weights = []
    for index, value in enumerate(_outstanding(small)):
        row, column = divmod(index, SIDE)
        off = ((column + 0.5) / SIDE - 0.5) ** 2 + ((row + 0.5) / SIDE - 0.5) ** 2
        weights.append(value * (1.0 - 1.1 * off))
    bar = max(14.0, sorted(weights)[-_PIXELS // 8] * 0.62)
    chosen = [index for index, weight in enumerate(weights) if weight >= bar]
    if not chosen:
        return Subject(0.0, (0.5, 0.5), 0.0, 0.0, 1.0)
    spots = [((index % SIDE + 0.5) / SIDE, (index // SIDE + 0.5) / SIDE) for index in chosen]
    x, y = (sum(spot[axis] for spot in spots) / len(spots) for axis in (0, 1))
    reach = sqrt(sum((sx - x) ** 2 + (sy - y) ** 2 for sx, sy in spots) / len(spots))
    touching = sum(not (0.05 < sx < 0.95 and 0.05 < sy < 0.95) for sx, sy in spots)
    apart = _separation(small, set(chosen))
    return Subject(len(chosen) / _PIXELS, (x, y), reach, apart, 1.0 - touching / len(spots))


def _outstanding(small: Image.Image) -> bytes:
    """How far every pixel is from what surrounds it, and from the colours of the border."""
    blurred = small.filter(ImageFilter.GaussianBlur(SIDE / 5))
    near = ImageChops.difference(small, blurred)
    edge = Image.new("RGB", small.size, _border_colour(small))
    far = ImageChops.difference(small, edge)
    both = ImageChops.add(near, far, 2)
    red, green, blue = both.split()
    return ImageChops.lighter(ImageChops.lighter(red, green), blue).tobytes()


def _border_colour(small: Image.Image) -> tuple[int, ...]:
    parts = [
        small.crop((0, 0, SIDE, 5)),
        small.crop((0, 5, 5, SIDE)),
        small.crop((SIDE - 5, 5, SIDE, SIDE)),
    ]
    means = [ImageStat.Stat(part).mean for part in parts]
    return tuple(round(sum(mean[band] for mean in means) / 3) for band in range(3))


def _separation(small: Image.Image, chosen: set[int]) -> float:
    """How far the mean colour of what was chosen is from that of the rest."""
    if len(chosen) == _PIXELS:
        return 0.0
    mask = Image.frombytes("L", small.size, bytes(255 * (n in chosen) for n in range(_PIXELS)))
    inside = ImageStat.Stat(small, mask).mean
    outside = ImageStat.Stat(small, ImageChops.invert(mask)).mean
    gaps = [one - other for one, other in zip(inside, outside, strict=True)]
    return min(1.0, sqrt(sum(gap * gap for gap in gaps)) / 160)
