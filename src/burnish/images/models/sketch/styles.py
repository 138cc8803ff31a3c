"""Styles: what happens to a finished picture so that it looks painted, printed or filmed."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from PIL import Image, ImageChops, ImageDraw, ImageEnhance, ImageFilter, ImageOps

from burnish.images.models.sketch.finishing import flat, grain, overlaid, vignette

Style = Callable[[Image.Image, Random], Image.Image]
_BICUBIC = Image.Resampling.BICUBIC
# Six tones a channel.
_TONES = [min(255, round(value / 51) * 51) for value in range(256)] * 3
# A line wherever the tone changes by more than a gradient does.
_INK = [255 - min(255, max(0, value - 26) * 5) for value in range(256)]


def watercolour(image: Image.Image, luck: Random) -> Image.Image:
    """Washes that run, darker at their edges, on white paper."""
    size = image.size
    wobbly = _wobbled(image, luck, image.width // 90)
    half = wobbly.resize((size[0] // 2, size[1] // 2), Image.Resampling.BOX)
    washes = ImageOps.posterize(half.filter(ImageFilter.GaussianBlur(2)), 4)
    washed = Image.blend(wobbly, washes.resize(size, _BICUBIC), 0.55)
    pale = Image.blend(ImageEnhance.Color(washed).enhance(1.35), flat(size, (255, 253, 246)), 0.24)
    lines = half.convert("L").filter(ImageFilter.FIND_EDGES).filter(ImageFilter.SMOOTH)
    _blank_border(lines, 0)
    lines = lines.point(lambda value: 255 - min(120, value)).resize(size, _BICUBIC)
    edged = ImageChops.multiply(pale, Image.merge("RGB", (lines,) * 3))
    blots = grain((size[0] // 32, size[1] // 32), luck, 40).resize(size, _BICUBIC)
    paper = grain((size[0] // 2, size[1] // 2), luck, 14).resize(size, Image.Resampling.BILINEAR)
    painted = overlaid(edged, ImageChops.add(blots, paper, 2))
    return Image.composite(painted, flat(size, (252, 249, 240)), _paper_edge(size, luck))


def oil(image: Image.Image, luck: Random) -> Image.Image:
    """Dabs of paint on canvas."""
    half = image.resize((image.width // 2, image.height // 2), Image.Resampling.BOX)
    dabs = half.filter(ImageFilter.ModeFilter(5)).resize(image.size, _BICUBIC)
    rich = ImageEnhance.Color(_wobbled(dabs, luck, image.width // 120)).enhance(1.3)
    weave = grain((image.width // 3, image.height // 3), luck, 16)
    weave = weave.resize(image.size, Image.Resampling.BILINEAR)
    ridges = rich.convert("L").filter(ImageFilter.EMBOSS)
    return overlaid(overlaid(rich, ridges), weave)


def line_art(image: Image.Image, luck: Random) -> Image.Image:
    """Ink on paper, with a breath of colour."""
    grey = image.filter(ImageFilter.SMOOTH).convert("L")
    tones, reds = (one.filter(ImageFilter.FIND_EDGES) for one in (grey, image.getchannel(0)))
    edges = ImageChops.add(tones, reds)
    ink = edges.filter(ImageFilter.MaxFilter(3)).point(_INK)
    _blank_border(ink)
    paper = Image.blend(image.convert("L").convert("RGB"), flat(image.size, (252, 250, 244)), 0.88)
    return ImageChops.multiply(paper, Image.merge("RGB", (ink,) * 3))


def pixel_art(image: Image.Image, luck: Random) -> Image.Image:
    """Few and large pixels in few colours."""
    small = image.resize((64, 64), Image.Resampling.BOX)
    few = ImageEnhance.Color(small).enhance(1.25).quantize(24, dither=Image.Dither.NONE)
    return few.convert("RGB").resize(image.size, Image.Resampling.NEAREST)


def minimal(image: Image.Image, luck: Random) -> Image.Image:
    """Flat tones."""
    few = image.quantize(14, dither=Image.Dither.NONE).convert("RGB")
    return few.filter(ImageFilter.SMOOTH)


def cinematic(image: Image.Image, luck: Random) -> Image.Image:
    """Teal shadows, warm lights, dark corners, and bars above and below."""
    luma = image.convert("L")
    graded = ImageChops.soft_light(
        image, ImageOps.colorize(luma, (20, 58, 78), (255, 224, 178), (128, 126, 124))
    )
    shot = vignette(ImageEnhance.Contrast(graded).enhance(1.1), 1.1)
    bar = round(image.height * 0.085)
    draw = ImageDraw.Draw(shot)
    draw.rectangle((0, 0, image.width, bar), fill=(6, 6, 8))
    draw.rectangle((0, image.height - bar, image.width, image.height), fill=(6, 6, 8))
    return shot


def vintage(image: Image.Image, luck: Random) -> Image.Image:
    """Faded and brown, with grain."""
    brown = ImageOps.colorize(image.convert("L"), (52, 36, 30), (250, 234, 200), (158, 122, 88))
    faded = Image.blend(image, brown, 0.72)
    return vignette(overlaid(faded, grain(image.size, luck, 26)), 1.3)


def noir(image: Image.Image, luck: Random) -> Image.Image:
    """Black and white."""
    grey = ImageOps.autocontrast(image.convert("L"), cutoff=1)
    return vignette(ImageEnhance.Contrast(grey.convert("RGB")).enhance(1.15), 1.2)


def comic(image: Image.Image, luck: Random) -> Image.Image:
    """Strong outlines around few tones."""
    bright = ImageOps.autocontrast(image.filter(ImageFilter.SMOOTH), cutoff=1, preserve_tone=True)
    few = ImageEnhance.Color(bright).enhance(1.4).point(_TONES)
    edges = image.filter(ImageFilter.SMOOTH).convert("L").filter(ImageFilter.FIND_EDGES)
    ink = edges.filter(ImageFilter.MaxFilter(3)).point(lambda value: 0 if value > 44 else 255)
    _blank_border(ink)
    return ImageChops.multiply(few, Image.merge("RGB", (ink.filter(ImageFilter.SMOOTH),) * 3))


def grainy(image: Image.Image, luck: Random) -> Image.Image:
    """Film grain."""
    return overlaid(image, grain(image.size, luck, 30))


STYLES: dict[str, Style] = {
    "watercolour": watercolour,
    "oil": oil,
    "line-art": line_art,
    "minimal": minimal,
    "comic": comic,
    "pixel-art": pixel_art,
    "noir": noir,
    "vintage": vintage,
    "grain": grainy,
    "cinematic": cinematic,
}


def mooded(image: Image.Image, moods: tuple[str, ...]) -> Image.Image:
    """Colour and contrast as the prompt wants them."""
    for mood in moods:
        if mood in _MOODS:
            image = _MOODS[mood](image)
    return image


_MOODS: dict[str, Callable[[Image.Image], Image.Image]] = {
    "vibrant": lambda image: ImageEnhance.Color(image).enhance(1.5),
    "muted": lambda image: ImageEnhance.Color(image).enhance(0.5),
    "pastel": lambda image: Image.blend(image, flat(image.size, (250, 240, 244)), 0.38),
    "warm": lambda image: ImageChops.multiply(image, flat(image.size, (255, 236, 206))),
    "cool": lambda image: ImageChops.multiply(image, flat(image.size, (208, 230, 255))),
    "dark": lambda image: ImageEnhance.Brightness(image).enhance(0.6),
    "contrasty": lambda image: ImageEnhance.Contrast(image).enhance(1.25),
}


def _wobbled(image: Image.Image, luck: Random, reach: int) -> Image.Image:
    """The picture as an unsteady hand would have drawn it."""
    cells = 12
    step = image.width / cells
    at = [
        [
            (
                x * step + (luck.uniform(-reach, reach) if 0 < x < cells else 0),
                y * step + (luck.uniform(-reach, reach) if 0 < y < cells else 0),
            )
            for x in range(cells + 1)
        ]
        for y in range(cells + 1)
    ]
    mesh = []
    for y in range(cells):
        for x in range(cells):
            box = (round(x * step), round(y * step), round((x + 1) * step), round((y + 1) * step))
            corners = (at[y][x], at[y + 1][x], at[y + 1][x + 1], at[y][x + 1])
            mesh.append((box, tuple(value for corner in corners for value in corner)))
    return image.transform(image.size, Image.Transform.MESH, mesh, Image.Resampling.BILINEAR)


def _paper_edge(size: tuple[int, int], luck: Random) -> Image.Image:
    """Where the paint ends before the paper does."""
    small = Image.new("L", (64, 64), 0)
    draw = ImageDraw.Draw(small)
    for step in range(64):
        ends = [luck.choice((1, 2, 2, 3)) for _ in range(4)]
        draw.line((ends[0], step, 63 - ends[1], step), fill=255)
        if step < ends[2] or step > 63 - ends[3]:
            draw.line((0, step, 63, step), fill=0)
    return small.filter(ImageFilter.GaussianBlur(0.7)).resize(size, _BICUBIC)


def _blank_border(ink: Image.Image, blank: int = 255) -> None:
    """Edge filters leave the outermost pixels as they were; they are no lines."""
    width = max(2, ink.width // 170)
    draw = ImageDraw.Draw(ink)
    draw.rectangle((0, 0, ink.width - 1, ink.height - 1), outline=blank, width=width)
