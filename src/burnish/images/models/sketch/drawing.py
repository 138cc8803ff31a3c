"""Draws a scene: backdrop, things, light, weather, style."""

from __future__ import annotations

import zlib
from random import Random

from PIL import Image

from burnish.images.models.colours import COLOURS, Colour, mix
from burnish.images.models.sketch.canvas import Canvas, SoftOval
from burnish.images.models.sketch.depths import HORIZONLESS
from burnish.images.models.sketch.distances import FAR
from burnish.images.models.sketch.finishing import ambient, glowing, rounded, vignette, weathered
from burnish.images.models.sketch.grounds import GROUND, WATERS
from burnish.images.models.sketch.indoors import INDOORS
from burnish.images.models.sketch.kinds import KINDS
from burnish.images.models.sketch.layout import Placed, horizon_of, place_things, settled
from burnish.images.models.sketch.lights import LIGHTS, Light
from burnish.images.models.sketch.pen import Look, Pen
from burnish.images.models.sketch.people import bust
from burnish.images.models.sketch.scene import Scene
from burnish.images.models.sketch.skies import paint_sky
from burnish.images.models.sketch.stage import Stage
from burnish.images.models.sketch.styles import STYLES, mooded

# Of these, several are of several colours unless the prompt names one.
_VARIED = frozenset(
    {"balloon", "flower", "tulip", "fish", "butterfly", "bird", "gift", "umbrella", "car", "boat"}
)
_VARIETY = ("red", "amber", "blue", "emerald", "violet", "coral", "turquoise", "pink")
_GROUND_OF = {"city": "street", "mountains": "field", "hills": "field", "forest": "field"}


def draw_scene(
    scene: Scene, side: int, *, scale: int, ground: Image.Image | None = None
) -> Image.Image:
    """The scene as a picture; over another picture, where one is given instead of a backdrop."""
    scene = settled(scene)
    light = LIGHTS.get(scene.light, LIGHTS["day"])
    canvas = Canvas(side, scale)
    nudge = Random(zlib.crc32(repr(scene.turns).encode()))  # noqa: S311 - luck, not secrecy
    luck = Random(scene.seed)  # noqa: S311
    horizon = horizon_of(scene)
    if scene.turns and horizon < 1.0:
        horizon += nudge.uniform(-0.025, 0.025)
    if ground is None:
        tint = COLOURS.get(scene.tint or "")
        _paint_backdrop(Stage(canvas, scene, light, horizon, luck, tint))
    else:
        canvas.set_image(ground.resize((canvas.big, canvas.big), Image.Resampling.BICUBIC))
    _soften_far(canvas, scene)
    far = canvas.glow, canvas.spark
    canvas.light_up()
    things = place_things(scene, horizon, Random(scene.seed ^ 0x5EED))  # noqa: S311
    things = [_nudged(placed, scene, nudge) for placed in things]
    _shadows(canvas, things, scene, light)
    for placed in things:
        _draw_thing(canvas, placed, scene)
    return _finished(canvas, far, scene, light, luck)


def _paint_backdrop(stage: Stage) -> None:
    names = stage.scene.backdrops
    first = names[0]
    if first in INDOORS:
        INDOORS[first](stage)
        return
    if first in HORIZONLESS:
        HORIZONLESS[first](stage)
        return
    paint_sky(stage)
    far = [name for name in names if name in FAR]
    near = [name for name in names if name in GROUND]
    for name in sorted(far, key=list(FAR).index):
        if name != "forest":
            FAR[name](stage)
    GROUND[near[-1] if near else _GROUND_OF.get(far[0] if far else "", "field")](stage)
    if "forest" in far:
        FAR["forest"](stage)


def _soften_far(canvas: Canvas, scene: Scene) -> None:
    """Blur what is far when the camera is close, or the prompt wants it."""
    close = scene.frame == "close" and "minimal" not in scene.styles
    if close or "bokeh" in scene.mood:
        small = canvas.image.resize((canvas.side // 5,) * 2, Image.Resampling.BOX)
        canvas.set_image(small.resize((canvas.big,) * 2, Image.Resampling.BICUBIC))


def _nudged(placed: Placed, scene: Scene, nudge: Random) -> Placed:
    """An edit moves things a little, so that it is seen to be another picture."""
    if not scene.turns:
        return placed
    shift, grow = nudge.uniform(-0.03, 0.03), nudge.uniform(0.94, 1.05)
    return Placed(
        placed.thing,
        placed.number,
        placed.x + (shift if scene.layout not in ("centred", "symmetric") else 0.0),
        placed.y,
        placed.height * grow,
        placed.flip,
        placed.bust,
        placed.shadow,
    )


def _draw_thing(canvas: Canvas, placed: Placed, scene: Scene) -> None:
    thing = placed.thing
    kind = KINDS[thing.kind]
    own = zlib.crc32(f"{thing.word}".encode())
    main, accent = kind.colour, kind.accent
    if thing.kind == "unknown":
        names = list(COLOURS)
        main, accent = COLOURS[names[own % len(names)]], COLOURS[names[own // 64 % len(names)]]
    elif thing.count > 1 and not thing.colour and thing.kind in _VARIED:
        main = COLOURS[_VARIETY[(scene.seed + placed.number) % len(_VARIETY)]]
    if thing.colour:
        main = COLOURS.get(thing.colour, main)
        accent = accent if _apart(main, accent) else mix(accent, (255, 255, 255), 0.6)
    look = Look(
        main, accent, thing.wears, own if thing.kind == "unknown" else scene.seed + placed.number
    )
    pen = Pen(canvas, placed.x, placed.y, placed.height, flip=placed.flip)
    (bust if placed.bust else kind.draw)(pen, look)


def _shadows(canvas: Canvas, things: list[Placed], scene: Scene, light: Light) -> None:
    """What things darken: the ground beside them, or the water that they lie in."""
    water = scene.backdrops[0] in WATERS
    alpha = 70 if water else 100
    ovals: list[SoftOval] = []
    for placed in things:
        if not placed.shadow:
            continue
        wide = placed.height * KINDS[placed.thing.kind].aspect * 0.5
        slant = (0.2 if light.side > 0.15 else 0.06) * wide
        x, y, tall = placed.x, placed.y, max(0.016, wide * 0.15)
        ovals.append((x + slant, y + 0.004, wide * 1.05, tall, alpha // 2))
        ovals.append((x + slant / 2, y + 0.002, wide * 0.92, tall * 0.66, alpha))
        ovals.append((x, y, wide * 0.72, tall * 0.4, alpha + 50))
    canvas.soften(ovals, (14, 50, 84) if water else (20, 14, 30))


def _apart(one: Colour, other: Colour) -> bool:
    return sum(abs(a - b) for a, b in zip(one, other, strict=True)) > 90


def _finished(
    canvas: Canvas,
    far: tuple[Image.Image, Image.Image],
    scene: Scene,
    light: Light,
    luck: Random,
) -> Image.Image:
    image, mask = canvas.image, canvas.mask
    if canvas.scale > 1:
        image, mask = image.reduce(canvas.scale), mask.reduce(canvas.scale)
    if "minimal" not in scene.styles and "comic" not in scene.styles:
        image = rounded(image, mask)
    image = ambient(image, light)
    image = glowing(image, *far, hidden=mask)
    image = glowing(image, canvas.glow, canvas.spark)
    image = weathered(image, scene, luck)
    if scene.light in ("dramatic", "neon", "candlelit", "night"):
        image = vignette(image, 0.8)
    image = mooded(image, scene.mood)
    # Ink has no tones that black and white could change.
    drained = "noir" if "line-art" in scene.styles else ""
    for name, style in STYLES.items():
        if name in scene.styles and name != drained:
            image = style(image, luck)
    return image
