"""Measures of a picture: figures that come from decoded pixels, most between 0 and 1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from typing import NamedTuple

from PIL import Image, ImageChops, ImageFilter, ImageStat

from burnish.images.models.colours import family

SIDE = 48
_CROP = 320
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
    down = ImageChops.difference(grey, ImageChops.offset(grey, 0, 1)).histogram()
    # A gradient is even in one direction; blocks are in both.
    equal = min(across[0], down[0]) / sum(across)
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
