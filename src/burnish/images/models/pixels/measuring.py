"""Figures of a picture. Every one comes from decoded pixels, and most lie between 0 and 1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from typing import NamedTuple

from PIL import Image, ImageChops, ImageFilter, ImageStat

from burnish.images.models.pixels.families import family
from burnish.images.models.pixels.subject import SIDE, find_subject

_CROP = 320
_PIXELS = SIDE * SIDE


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """What was counted. `families` are shares of the picture by colour.

    `subject` is the share that stands out, at `centre` with a `reach` around it; `separation` is
    how far its colours are from those of the rest, `margin` how much of the border it leaves free.
    Steps between neighbours are out of 255: `noise` the middle one, `edges` the mean, `sharp` the
    largest; `blocks` is how many neighbours are alike. `palette` is how many colours the picture
    would have if all were used alike.
    """

    families: dict[str, float]
    brightness: float
    contrast: float
    saturation: float
    dark: float
    light: float
    clipped: float
    palette: float
    noise: float
    edges: float
    sharp: float
    blocks: float
    bars: float
    corners: float
    subject: float
    centre: tuple[float, float]
    reach: float
    separation: float
    margin: float
    symmetry: float
    calm: float


class _Texture(NamedTuple):
    noise: float
    edges: float
    sharp: float
    blocks: float


def measure(picture: Image.Image) -> Measures:
    """All figures of a picture."""
    rgb = _on_white(picture)
    small = rgb.resize((SIDE, SIDE), Image.Resampling.BOX)
    grey = small.convert("L")
    hues, saturations, values = (band.tobytes() for band in small.convert("HSV").split())
    stat = ImageStat.Stat(grey)
    histogram = rgb.resize((256, 256), Image.Resampling.NEAREST).convert("L").histogram()
    total = sum(histogram)
    families = Counter(map(family, hues, saturations, values))
    texture, subject = _texture(rgb), find_subject(small)
    return Measures(
        families={name: count / _PIXELS for name, count in families.items()},
        brightness=stat.mean[0] / 255,
        contrast=min(1.0, stat.stddev[0] / 90),
        saturation=sum(saturations) / 255 / _PIXELS,
        dark=sum(histogram[:64]) / total,
        light=sum(histogram[200:]) / total,
        clipped=(sum(histogram[:3]) + sum(histogram[253:])) / total,
        palette=_palette(small),
        bars=_bars(grey),
        corners=_corners(grey),
        symmetry=_symmetry(grey),
        calm=_calm(grey),
        noise=texture.noise,
        edges=texture.edges,
        sharp=texture.sharp,
        blocks=texture.blocks,
        subject=subject.share,
        centre=subject.centre,
        reach=subject.reach,
        separation=subject.separation,
        margin=subject.margin,
    )


def _on_white(picture: Image.Image) -> Image.Image:
    if picture.mode == "RGB":
        return picture
    whole = picture.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", whole.size, (255,) * 4), whole).convert("RGB")


def _palette(small: Image.Image) -> float:
    """The exponential of the entropy over 512 coarse colours."""
    raw = small.tobytes()
    coarse = Counter(
        (red >> 5) << 6 | (green >> 5) << 3 | blue >> 5
        for red, green, blue in zip(raw[::3], raw[1::3], raw[2::3], strict=True)
    )
    entropy = -sum(count / _PIXELS * log(count / _PIXELS) for count in coarse.values())
    return exp(entropy)


def _texture(rgb: Image.Image) -> _Texture:
    """What only full size shows, in the middle of the picture."""
    left, top = max(0, (rgb.width - _CROP) // 2), max(0, (rgb.height - _CROP) // 2)
    crop = rgb.crop((left, top, min(rgb.width, left + _CROP), min(rgb.height, top + _CROP)))
    grey = crop.convert("L")
    rough = ImageChops.difference(grey, grey.filter(ImageFilter.SMOOTH_MORE)).histogram()
    right = ImageChops.difference(grey, ImageChops.offset(grey, 1, 0))
    steps = ImageStat.Stat(right).mean[0]
    across = right.histogram()
    equal = across[0] / sum(across)
    return _Texture(_at(rough, 0.5), steps, _at(across, 0.999), equal)


def _at(histogram: Sequence[int], part: float) -> float:
    """The value that so much of all lies below; the middle one is what flat parts look like."""
    bar, seen = sum(histogram) * part, 0
    for value, count in enumerate(histogram):
        if seen + count >= bar:
            return max(0.0, value + (bar - seen) / max(1, count) - 0.5)
        seen += count
    return 255.0


def _bars(grey: Image.Image) -> float:
    """The share of the picture that plain bars at its edges take."""
    rows = [grey.crop((0, y, SIDE, y + 1)).getextrema() for y in range(SIDE)]
    columns = [grey.crop((x, 0, x + 1, SIDE)).getextrema() for x in range(SIDE)]
    plain = 0
    for lines in (rows, rows[::-1], columns, columns[::-1]):
        for low, high in lines[: SIDE // 3]:
            if _number(high) - _number(low) > 6 or 20 < _number(low) < 245:
                break
            plain += 1
    return min(1.0, plain / SIDE)


def _corners(grey: Image.Image) -> float:
    """How much darker the corners are than the middle."""
    edge, third = SIDE // 8, SIDE // 3
    spots = [(0, 0), (SIDE - edge, 0), (0, SIDE - edge), (SIDE - edge, SIDE - edge)]
    outer = [ImageStat.Stat(grey.crop((x, y, x + edge, y + edge))).mean[0] for x, y in spots]
    inner = ImageStat.Stat(grey.crop((third, third, 2 * third, 2 * third))).mean[0]
    return max(0.0, (inner - sum(outer) / 4) / 255)


def _symmetry(grey: Image.Image) -> float:
    mirrored = grey.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    return 1.0 - min(1.0, ImageStat.Stat(ImageChops.difference(grey, mirrored)).mean[0] / 64)


def _calm(grey: Image.Image) -> float:
    """How even the border is: a clean backdrop, or a busy one."""
    border = [*grey.crop((0, 0, SIDE, 4)).tobytes(), *grey.crop((0, 0, 4, SIDE)).tobytes()]
    border += grey.crop((SIDE - 4, 0, SIDE, SIDE)).tobytes()
    mean = sum(border) / len(border)
    spread = sqrt(sum((value - mean) ** 2 for value in border) / len(border))
    return max(0.0, 1.0 - spread / 64)


def _number(value: object) -> int:
    assert isinstance(value, (int, float))
    return int(value)
