"""Sketch drawing: a scene as sky, ground, light and labelled shapes. Needs Pillow: import it late."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import cache
from math import sqrt
from random import Random
from typing import NamedTuple

from PIL import Image, ImageChops, ImageDraw, ImageEnhance, ImageFilter, ImageFont, ImageOps

from burnish.images.models.colours import COLOURS, Colour, mix, shade
from burnish.images.models.sketch.reading import Scene, Thing

Picture = Image.Image
_SMOOTH = Image.Resampling.BICUBIC
_STRIP: Colour = (44, 46, 52)
_STRIP_SHARE = 0.055
_SHAPE_COLOURS = ("teal", "coral", "amber", "violet", "olive", "azure", "rosy", "tan")
# Of a triangle, a diamond and a gable, in shares of a square.
_CORNERS = (
    ((0.5, 0.0), (1.0, 1.0), (0.0, 1.0)),
    ((0.5, 0.0), (1.0, 0.5), (0.5, 1.0), (0.0, 0.5)),
    ((0.5, 0.0), (1.0, 0.4), (1.0, 1.0), (0.0, 1.0), (0.0, 0.4)),
)
_HORIZONS = {"close": 0.6, "wide": 0.52, "aerial": 0.2, "low-angle": 0.78}
_HEIGHTS = {"close": 0.56, "wide": 0.2, "aerial": 0.24, "low-angle": 0.46}


class _Light(NamedTuple):
    """Colours of the sky from top to horizon, what all is multiplied by, and whether it is dark."""

    top: str
    low: str
    all: str
    dark: bool = False
    sun: str = ""


_LIGHTS = {
    "day": _Light("#5498e0", "#deeef6", "#ffffff", sun="#fff6d2"),
    "night": _Light("#080c26", "#3a4278", "#8c98d8", dark=True),
    "sunset": _Light("#483478", "#ffbe68", "#ffd2b0", sun="#ffd684"),
    "sunrise": _Light("#7894d4", "#ffe2b8", "#ffecde", sun="#ffe8b0"),
    "golden-hour": _Light("#c8b080", "#ffde96", "#ffe0a8", sun="#ffe496"),
    "neon": _Light("#0e0828", "#702078", "#f08ae6", dark=True),
    "studio-lit": _Light("#e2e4e8", "#f6f6f6", "#ffffff"),
    "dramatic": _Light("#222432", "#967a64", "#b09c8c", dark=True),
    "softly-lit": _Light("#b0cae2", "#f0ece6", "#fffcf8", sun="#fffaec"),
    "backlit": _Light("#96a8c4", "#fff0c8", "#c4b8be", sun="#fff6d6"),
    "candlelit": _Light("#1c141e", "#784830", "#f0b070", dark=True),
    "overcast": _Light("#8e98a4", "#d0d4d8", "#e2e6ec"),
}


class _Ground(NamedTuple):
    """The colours of the ground from far to near, and what stands on its horizon.

    One without a horizon fills the picture. A `wall` takes the place of the sky.
    """

    far: str
    near: str
    row: str = ""
    wall: str = ""
    horizon: bool = True


_GROUNDS = {
    "room": _Ground("#a07850", "#7c5838", wall="#d8cab4"),
    "tabletop": _Ground("#b08050", "#8a5c34", wall="#e0d8cc"),
    "studio": _Ground("#e6e6e8", "#cdced2", wall="#f0f0f2"),
    "wall": _Ground("#b8b4ac", "#8e8a84", wall="#c8b8a4"),
    "street": _Ground("#74767c", "#54565c", row="towers"),
    "city": _Ground("#6a6c74", "#4c4e56", row="towers"),
    "forest": _Ground("#3c7040", "#2c5830", row="trees"),
    "mountains": _Ground("#7c9860", "#5c8048", row="peaks"),
    "hills": _Ground("#8cb460", "#64984c", row="humps"),
    "field": _Ground("#8cbc5c", "#58984c"),
    "garden": _Ground("#70b050", "#489048", row="humps"),
    "lake": _Ground("#88bcd8", "#2c6ca4", row="humps"),
    "river": _Ground("#80b4d0", "#3478a8", row="trees"),
    "sea": _Ground("#68b0d0", "#1c5c98"),
    "beach": _Ground("#f0e2b4", "#dcbc78"),
    "desert": _Ground("#e8c888", "#d09c50", row="humps"),
    "snowfield": _Ground("#f4f8fc", "#dce8f4", row="humps"),
    "space": _Ground("#0a0c20", "#1c1440", horizon=False),
    "sky": _Ground("#5ca0e4", "#d4e8f8", horizon=False),
    "underwater": _Ground("#48b0d8", "#104878", horizon=False),
}


def draw_scene(scene: Scene, side: int, *, ground: Picture | None = None) -> Picture:
    """The scene as a picture; over another picture, where one is given instead of a backdrop."""
    big = side * 2
    light = _LIGHTS.get(scene.light, _LIGHTS["day"])
    luck = Random(scene.seed)  # noqa: S311 - luck, not secrecy
    nudge = Random(zlib.crc32(repr(scene.turns).encode()))  # noqa: S311
    # An edit moves things a little, so that it is seen to be another picture.
    horizon = _HORIZONS.get(scene.frame, 0.64) + (nudge.uniform(-0.02, 0.02) if scene.turns else 0)
    image = _backdrop(scene, light, horizon, big, luck) if ground is None else ground
    image = image.resize((big, big), _SMOOTH)
    if scene.frame == "close" or "bokeh" in scene.mood:
        image = image.reduce(12).resize((big, big), _SMOOTH)
    labels = _draw_things(image, scene, horizon, nudge)
    image = image.reduce(2)
    image = ImageChops.multiply(image, _flat(image, light.all))
    image = _weathered(image, scene.weather, luck)
    image = _vignette(image) if light.dark else image
    for mood in scene.mood:
        image = _MOODS[mood](image) if mood in _MOODS else image
    for name in (one for one in _STYLES if one in scene.styles):
        image = _STYLES[name](image, luck)
    for x, y, width, word in labels:
        _write(image, (x * side, y * side), width * side, word)
    return _with_strip(image, scene.undrawn)


def _backdrop(scene: Scene, light: _Light, horizon: float, big: int, luck: Random) -> Picture:
    kinds = [_GROUNDS[name] for name in scene.backdrops if name in _GROUNDS] or [_GROUNDS["field"]]
    first = kinds[0]
    if not first.horizon:
        whole = _gradient(first.far, first.near, (big, big), scene.tint)
        return _sky_marks(whole, scene, light, 1.0, luck, stars=scene.backdrops[0] == "space")
    edge = round(big * horizon)
    image = Image.new("RGB", (big, big))
    if first.wall:
        wall = mix(_rgb(first.wall), _rgb(light.top), 0.6 if light.dark else 0.0)
        image.paste(_gradient(wall, shade(wall, 0.2), (big, edge), scene.tint), (0, 0))
    else:
        image.paste(_gradient(light.top, light.low, (big, edge), None), (0, 0))
        image = _sky_marks(image, scene, light, horizon, luck, stars=light.dark)
    ink = mix(_rgb(first.far), _rgb(light.low), 0.25)
    for kind in kinds:
        if kind.row:
            _row(ImageDraw.Draw(image), kind.row, mix(_rgb(kind.near), ink, 0.4), edge, big, luck)
    image.paste(
        _gradient(first.far, first.near, (big, big - edge), None if first.wall else scene.tint),
        (0, edge),
    )
    return image


def _sky_marks(
    image: Picture, scene: Scene, light: _Light, horizon: float, luck: Random, *, stars: bool
) -> Picture:
    """The sun, the moon and stars, unless the prompt does not want them."""
    draw, big = ImageDraw.Draw(image), image.width
    shown = set(scene.sky) | ({"star"} if stars else set())
    shown |= {"moon"} if scene.light == "night" else {"sun"} if light.sun and horizon < 1 else set()
    shown -= set(scene.absent)
    if "star" in shown:
        for _ in range(70):
            x, y, dot = luck.random() * big, luck.random() * big * horizon, luck.choice((1, 2, 3))
            draw.ellipse((x - dot, y - dot, x + dot, y + dot), fill=(220, 224, 250))
    for name, r, ink in (("sun", 0.07, light.sun or "#fff2c0"), ("moon", 0.055, "#f0eede")):
        if name in shown:
            low = name == "sun" and scene.light not in ("", "day", "softly-lit")
            x, y = luck.uniform(0.15, 0.85) * big, (horizon - 0.1 if low else 0.15) * big
            draw.ellipse((x - r * big, y - r * big, x + r * big, y + r * big), fill=ink)
    return image


def _row(
    draw: ImageDraw.ImageDraw, kind: str, ink: Colour, edge: int, big: int, luck: Random
) -> None:
    """Simple forms along the horizon."""
    step = {"towers": 0.09, "trees": 0.06, "peaks": 0.24, "humps": 0.34}[kind] * big
    x = -step
    while x < big + step:
        wide = step * luck.uniform(0.8, 1.5)
        tall = wide * {"towers": 1.8, "trees": 2.4, "peaks": 1.0, "humps": 0.35}[kind]
        tone = shade(ink, luck.uniform(-0.15, 0.1))
        if kind == "towers":
            draw.rectangle((x, edge - tall * luck.uniform(0.6, 1.2), x + wide, edge), fill=tone)
        elif kind == "humps":
            draw.ellipse((x - wide / 2, edge - tall, x + wide * 1.5, edge + tall), fill=tone)
        else:
            draw.polygon(((x, edge), (x + wide / 2, edge - tall), (x + wide, edge)), fill=tone)
        x += wide * 0.85


def _draw_things(
    image: Picture, scene: Scene, horizon: float, nudge: Random
) -> list[tuple[float, float, float, str]]:
    """The shapes; where their labels belong, as shares of the side, and how wide each may be."""
    each = [thing for thing in scene.things for _ in range(thing.count)]
    draw, big, labels = ImageDraw.Draw(image), image.width, []
    for number, thing in enumerate(each):
        grow = nudge.uniform(0.94, 1.06) if scene.turns else 1.0
        crowded = _HEIGHTS.get(scene.frame, 0.36) / sqrt(max(1.0, len(each) * 0.75))
        height = min(0.75, crowded * thing.size * grow)
        height *= 0.6 if thing.place == "back" or scene.layout == "roomy" else 1.0
        x = _across(scene, thing, number, len(each))
        x += nudge.uniform(-0.03, 0.03) if scene.turns and len(each) > 1 else 0.0
        bottom = 0.42 if thing.place == "top" else min(0.92, max(horizon + 0.16, 0.3 + height))
        bottom = horizon + 0.05 if thing.place == "back" else bottom
        half = height / 2
        box = ((x - half) * big, (bottom - height) * big, (x + half) * big, bottom * big)
        _shape(draw, thing, box)
        labels.append((x, bottom - height * 0.4, height * 1.3, thing.word))
    return labels


def _across(scene: Scene, thing: Thing, number: int, total: int) -> float:
    if thing.place in ("left", "right", "centre"):
        return {"left": 0.24, "right": 0.76, "centre": 0.5}[thing.place]
    if total > 1:
        return 0.14 + 0.72 * (number + 0.5) / total
    third = 1 / 3 if scene.seed % 2 else 2 / 3
    free = 0.44 if scene.seed % 2 else 0.56
    return {"thirds": third, "roomy": third, "centred": 0.5, "symmetric": 0.5}.get(
        scene.layout, free
    )


def _shape(draw: ImageDraw.ImageDraw, thing: Thing, box: tuple[float, float, float, float]) -> None:
    """The same form for the same word, in its colour, with a shadow below."""
    own = zlib.crc32(thing.word.encode())
    ink = COLOURS.get(thing.colour or "") or COLOURS[_SHAPE_COLOURS[own % len(_SHAPE_COLOURS)]]
    left, top, right, bottom = box
    wide, edge = right - left, shade(ink, -0.45)
    line = max(2, round(wide / 40))
    draw.ellipse((left, bottom - wide * 0.06, right, bottom + wide * 0.06), fill=(40, 38, 48))
    form = own // 8 % (len(_CORNERS) + 2)
    if form == 0:
        draw.ellipse(box, fill=ink, outline=edge, width=line)
    elif form == 1:
        draw.rounded_rectangle(box, wide / 6, fill=ink, outline=edge, width=line)
    else:
        corners = [(left + x * wide, top + y * (bottom - top)) for x, y in _CORNERS[form - 2]]
        draw.polygon(corners, ink, edge, line)


@cache
def _font(size: int) -> ImageFont.ImageFont | ImageFont.FreeTypeFont:
    return ImageFont.load_default(size)


def _write(image: Picture, centre: tuple[float, float], width: float, word: str) -> None:
    """A label around a place, as large as fits, legible on anything."""
    size = image.width // 16
    while size > 11 and _font(size).getlength(word) > width:
        size -= 1
    draw = ImageDraw.Draw(image)
    draw.text(
        centre, word, "white", _font(size), "mm", stroke_width=max(1, size // 9), stroke_fill=_STRIP
    )


def _with_strip(image: Picture, undrawn: tuple[str, ...]) -> Picture:
    """A strip at the bottom that says what this is, and which words it left out."""
    side, high = image.width, round(image.height * _STRIP_SHARE)
    font = _font(round(high * 0.6))
    words = sorted(undrawn)
    text = f"sketch, not drawn: {', '.join(words)}" if words else "sketch"
    while len(words) > 1 and font.getlength(text) > side - high:
        words.pop()
        text = f"sketch, not drawn: {', '.join(words)} and {len(undrawn) - len(words)} more"
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, side - high, side, side), fill=_STRIP)
    draw.text((high / 2, side - high / 2), text, (236, 236, 232), font, "lm")
    return image


def _flat(image: Picture, colour: str | Colour) -> Picture:
    return Image.new("RGB", image.size, colour)


def _rgb(value: str) -> Colour:
    return int(value[1:3], 16), int(value[3:5], 16), int(value[5:7], 16)


def _gradient(
    top: str | Colour, low: str | Colour, size: tuple[int, int], tint: str | None
) -> Picture:
    ends = [_rgb(one) if isinstance(one, str) else one for one in (top, low)]
    ends = [mix(one, COLOURS[tint], 0.6) for one in ends] if tint in COLOURS else ends
    ramp = Image.linear_gradient("L").resize((64, 256))
    return ImageOps.colorize(ramp, ends[0], ends[1]).resize(size, _SMOOTH)


def _vignette(image: Picture) -> Picture:
    ring = Image.radial_gradient("L").resize(image.size).point(lambda value: max(0, value - 110))
    return Image.composite(_flat(image, (10, 8, 18)), image, ring)


def _weathered(image: Picture, weather: tuple[str, ...], luck: Random) -> Picture:
    side = image.width
    if "fog" in weather:
        image = Image.blend(image, _flat(image, (206, 210, 216)), 0.5)
    if "storm" in weather:
        image = ImageChops.multiply(image, _flat(image, (150, 156, 178)))
    draw = ImageDraw.Draw(image, "RGBA")
    for _ in range(170 if {"rain", "storm"} & set(weather) else 0):
        x, y, long = (
            luck.random() * side * 1.1,
            luck.random() * side,
            side * luck.uniform(0.02, 0.05),
        )
        draw.line(
            (x, y, x - long / 4, y + long), fill=(226, 236, 248, 110), width=max(1, side // 340)
        )
    for _ in range(190 if "snow" in weather else 0):
        x, y, r = luck.random() * side, luck.random() * side, side * luck.uniform(0.0015, 0.006)
        draw.ellipse((x - r, y - r, x + r, y + r), fill=(255, 255, 255, 190))
    return image


def _grainy(image: Picture, luck: Random, spread: int) -> Picture:
    tile = Image.frombytes("L", (256, 256), luck.randbytes(256 * 256))
    grey = Image.new("L", image.size, 128)
    for x in range(0, image.width, 256):
        for y in range(0, image.height, 256):
            grey.paste(tile.point(lambda value: 128 + (value - 128) * spread // 128), (x, y))
    return ImageChops.overlay(image, Image.merge("RGB", (grey,) * 3))


def _inked(image: Picture, threshold: int) -> Picture:
    lines = image.convert("L").filter(ImageFilter.FIND_EDGES).filter(ImageFilter.MaxFilter(3))
    ImageDraw.Draw(lines).rectangle((0, 0, lines.width - 1, lines.height - 1), outline=0, width=4)
    ink = lines.point(lambda value: 255 - min(255, max(0, value - threshold) * 5))
    return Image.merge("RGB", (ink,) * 3)


def _watercolour(image: Picture, luck: Random) -> Picture:
    washes = ImageOps.posterize(image.filter(ImageFilter.GaussianBlur(3)), 4)
    pale = Image.blend(washes, _flat(image, (255, 253, 246)), 0.35)
    return _grainy(ImageChops.multiply(pale, _inked(image, 60)), luck, 14)


def _pixel_art(image: Picture, luck: Random) -> Picture:
    small = image.resize((64, 64), Image.Resampling.BOX).quantize(24, dither=Image.Dither.NONE)
    return small.convert("RGB").resize(image.size, Image.Resampling.NEAREST)


def _cinematic(image: Picture, luck: Random) -> Picture:
    graded = _vignette(ImageEnhance.Contrast(image).enhance(1.15))
    bar, side = round(image.height * 0.085), image.width
    draw = ImageDraw.Draw(graded)
    draw.rectangle((0, 0, side, bar), fill=(6, 6, 8))
    draw.rectangle((0, side - bar - round(side * _STRIP_SHARE), side, side), fill=(6, 6, 8))
    return graded


def _vintage(image: Picture, luck: Random) -> Picture:
    brown = ImageOps.colorize(image.convert("L"), (52, 36, 30), (250, 234, 200), (158, 122, 88))
    return _vignette(_grainy(Image.blend(image, brown, 0.72), luck, 26))


def _oil(image: Picture, luck: Random) -> Picture:
    dabs = image.reduce(4).filter(ImageFilter.ModeFilter(5)).resize(image.size, _SMOOTH)
    return _grainy(ImageEnhance.Color(dabs).enhance(1.3), luck, 20)


_STYLES: dict[str, Callable[[Picture, Random], Picture]] = {
    "watercolour": _watercolour,
    "oil": _oil,
    "line-art": lambda image, luck: ImageChops.multiply(
        Image.blend(image.convert("L").convert("RGB"), _flat(image, "white"), 0.88),
        _inked(image, 26),
    ),
    "minimal": lambda image, luck: image.quantize(14, dither=Image.Dither.NONE).convert("RGB"),
    "comic": lambda image, luck: ImageChops.multiply(
        ImageOps.posterize(ImageEnhance.Color(image).enhance(1.5), 3), _inked(image, 44)
    ),
    "pixel-art": _pixel_art,
    "noir": lambda image, luck: ImageOps.autocontrast(image.convert("L"), 1).convert("RGB"),
    "vintage": _vintage,
    "grain": lambda image, luck: _grainy(image, luck, 30),
    "cinematic": _cinematic,
}
_MOODS: dict[str, Callable[[Picture], Picture]] = {
    "vibrant": lambda image: ImageEnhance.Color(image).enhance(1.5),
    "muted": lambda image: ImageEnhance.Color(image).enhance(0.5),
    "pastel": lambda image: Image.blend(image, _flat(image, (250, 240, 244)), 0.38),
    "warm": lambda image: ImageChops.multiply(image, _flat(image, (255, 236, 206))),
    "cool": lambda image: ImageChops.multiply(image, _flat(image, (208, 230, 255))),
    "dark": lambda image: ImageEnhance.Brightness(image).enhance(0.6),
    "contrasty": lambda image: ImageEnhance.Contrast(image).enhance(1.25),
}
