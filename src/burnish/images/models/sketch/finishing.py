"""What light does to a drawn picture: rounding, colour, glow, weather and grain."""

from __future__ import annotations

from functools import lru_cache
from random import Random

from PIL import Image, ImageChops, ImageDraw, ImageFilter

from burnish.images.models.colours import Colour, mix
from burnish.images.models.sketch.lights import Light
from burnish.images.models.sketch.scene import Scene

_SMALL = 128
_SMOOTH = Image.Resampling.BILINEAR
# Tables for all three channels.
_TRIPLED = [min(255, value * 3) for value in range(256)] * 3
_THIRD = [value // 3 for value in range(256)] * 3


def rounded(image: Image.Image, mask: Image.Image) -> Image.Image:
    """Things as if they were round: bright where the light falls on them, dark where it doesn't."""
    small = mask.resize((_SMALL, _SMALL), Image.Resampling.BOX).filter(ImageFilter.GaussianBlur(4))
    relief = ImageChops.subtract(small, ImageChops.offset(small, 4, 4), 2.2, 128)
    relief = relief.resize(image.size, _SMOOTH)
    neutral = Image.new("L", image.size, 128)
    relief = Image.composite(relief, neutral, mask)
    return ImageChops.overlay(image, Image.merge("RGB", (relief,) * 3))


def ambient(image: Image.Image, light: Light) -> Image.Image:
    """The light's colour on everything, and one side of the picture darker than the other."""
    size = image.size
    lit = Image.new("RGB", size, light.ambient)
    if light.side > 0.1:
        ramp = Image.linear_gradient("L").rotate(90).resize(size)
        far = light.across or mix(light.ambient, (0, 0, 0), light.side)
        lit = Image.composite(flat(size, far), lit, ramp)
    return ImageChops.multiply(image, lit)


def glowing(
    image: Image.Image,
    glow: Image.Image,
    spark: Image.Image,
    hidden: Image.Image | None = None,
) -> Image.Image:
    """The lights of a picture, each with its halo; where things hide them, only a little spills."""
    if glow.getbbox() is None and spark.getbbox() is None:
        return image
    small = ImageChops.add(_shrunk(glow), _shrunk(spark).point(_TRIPLED))
    near, wide = (small.filter(ImageFilter.GaussianBlur(r)) for r in (2.5, 10))
    halo = ImageChops.add(near, wide).resize(image.size, _SMOOTH)
    if hidden is not None:
        halo = Image.composite(halo.point(_THIRD), halo, hidden)
        spark = Image.composite(flat(spark.size, (0, 0, 0)), spark, hidden)
    return ImageChops.screen(ImageChops.screen(image, halo), spark)


def _shrunk(image: Image.Image) -> Image.Image:
    return image.resize((_SMALL, _SMALL), Image.Resampling.BOX)


def vignette(image: Image.Image, strength: float) -> Image.Image:
    """Darker corners."""
    ring = _ring(strength).resize(image.size, Image.Resampling.BILINEAR)
    return Image.composite(flat(image.size, (10, 8, 18)), image, ring)


@lru_cache(maxsize=8)
def _ring(strength: float) -> Image.Image:
    small = Image.radial_gradient("L").resize((_SMALL, _SMALL), Image.Resampling.BOX)
    return small.point([max(0, round((value - 110) * strength)) for value in range(256)])


def weathered(image: Image.Image, scene: Scene, luck: Random) -> Image.Image:
    """Rain, snow, fog and storm over the whole picture."""
    side = image.width
    layer = image
    if "fog" in scene.weather:
        veil = Image.linear_gradient("L").point(lambda value: 70 + value // 3).resize(image.size)
        layer = Image.composite(Image.new("RGB", image.size, (206, 210, 216)), layer, veil)
    if "storm" in scene.weather:
        layer = ImageChops.multiply(layer, Image.new("RGB", image.size, (150, 156, 178)))
    draw = ImageDraw.Draw(layer, "RGBA")
    if "rain" in scene.weather or "storm" in scene.weather:
        for _ in range(170):
            x, y = luck.random() * side * 1.1, luck.random() * side
            long = side * luck.uniform(0.02, 0.05)
            draw.line(
                (x, y, x - long * 0.25, y + long), fill=(226, 236, 248, 96), width=side // 340
            )
    if "snow" in scene.weather:
        for _ in range(190):
            x, y, r = luck.random() * side, luck.random() * side, side * luck.uniform(0.0015, 0.006)
            draw.ellipse((x - r, y - r, x + r, y + r), fill=(255, 255, 255, 190))
    return layer


def grain(size: tuple[int, int], luck: Random, spread: int) -> Image.Image:
    """Noise around the middle grey, the same for the same luck."""
    side = 256
    noise = Image.frombytes("L", (side, side), luck.randbytes(side * side))
    noise = noise.point(lambda value: 128 + (value - 128) * spread // 128)
    tile = Image.new("L", size)
    for x in range(0, size[0], side):
        for y in range(0, size[1], side):
            tile.paste(noise, (x, y))
    return tile


def overlaid(image: Image.Image, grey: Image.Image) -> Image.Image:
    """A grey texture over the picture; its middle grey changes nothing."""
    return ImageChops.overlay(image, Image.merge("RGB", (grey,) * 3))


def flat(size: tuple[int, int], colour: Colour) -> Image.Image:
    """One colour."""
    return Image.new("RGB", size, colour)
