"""Where things stand in the picture."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from burnish.images.models.sketch.depths import HORIZONLESS
from burnish.images.models.sketch.grounds import WATERS
from burnish.images.models.sketch.indoors import INDOORS
from burnish.images.models.sketch.kinds import KINDS
from burnish.images.models.sketch.scene import Scene, Thing

_ZOOMS = {"close": 1.45, "wide": 0.55, "aerial": 0.7, "low-angle": 1.25}
_HORIZONS = {"close": 0.62, "wide": 0.6, "aerial": 0.28, "low-angle": 0.78}
_MOST_PLACED = 14
_COLUMNS = {"left": 0.2, "right": 0.8, "centre": 0.5}
# Where the bust's foot is: below the picture, so that shoulders run out of it.
_BUST_FOOT = 1.02
_TALL_HATS = frozenset({"chef", "wizard", "king", "crown", "cowboy", "pirate", "detective", "hat"})


@dataclass(frozen=True, slots=True)
class Placed:
    """One thing where it is drawn: foot and height in shares of the picture's side."""

    thing: Thing
    number: int
    x: float
    y: float
    height: float
    flip: bool = False
    bust: bool = False
    shadow: bool = True


def settled(scene: Scene) -> Scene:
    """The scene with a backdrop and a light, where the prompt left them open."""
    indoors = [one for one in scene.backdrops if one in INDOORS]
    # Of several rooms the last named is meant: "in a diner … set it in a studio".
    backdrops = (indoors[-1],) if indoors else scene.backdrops
    main = next((one for one in scene.things if one.kind != "unknown"), None)
    zones = {KINDS[one.kind].zone for one in scene.things}
    if not backdrops:
        if "wall" in zones and main and KINDS[main.kind].zone != "wall":
            backdrops = ("wall",)
        elif "table" in zones:
            backdrops = ("room",)
        elif scene.light in ("studio-lit", "dramatic") and scene.things and _home(scene) in INDOORS:
            backdrops = ("studio",)
        else:
            backdrops = (_home(scene),)
    return replace(scene, backdrops=backdrops, light=scene.light or _light_of(scene, backdrops[0]))


def _home(scene: Scene) -> str:
    """Where the things belong: outdoors, as soon as one of them does."""
    homes = [KINDS[one.kind].home for one in scene.things]
    outside = (home for home in homes if home not in INDOORS)
    return next(outside, homes[0] if homes else "hills")


def _light_of(scene: Scene, backdrop: str) -> str:
    if backdrop == "space":
        return "starlight"
    if any(one.kind == "moon" for one in scene.things):
        return "night"
    if scene.weather:
        return "overcast"
    indoor = backdrop in INDOORS or backdrop == "underwater"
    return "softly-lit" if indoor else "day"


def horizon_of(scene: Scene) -> float:
    """How far down the ground begins."""
    if scene.backdrops[0] in HORIZONLESS:
        return 1.0
    if scene.backdrops[0] == "tabletop":
        return 0.6
    if scene.backdrops[0] in INDOORS:
        return 0.68 if scene.frame != "wide" else 0.62
    return _HORIZONS.get(scene.frame, 0.58)


def place_things(scene: Scene, horizon: float, luck: Random) -> list[Placed]:
    """Every thing in the order in which it is drawn: sky, wall, table, back, front."""
    zoom = _ZOOMS.get(scene.frame, 1.0) * (0.72 if scene.layout == "roomy" else 1.0)
    zones: dict[str, list[Thing]] = {}
    for thing in scene.things:
        zones.setdefault(_zone(scene, thing), []).append(thing)
    placed = _in_sky(zones.get("sky", []), scene, horizon, zoom, luck)
    placed += _at_wall(zones.get("wall", []), horizon, zoom, bool(zones.keys() - {"wall", "sky"}))
    placed += _in_row(zones.get("back", []), scene, horizon + 0.07, zoom * 0.7, luck)
    tables = zones.get("table", [])
    foot = 0.93 if horizon < 1.0 else 0.9
    placed += _in_row(tables, scene, foot, 1.15, luck)
    standing = zones.get("ground", []) + zones.get("water", [])
    small = zones.get("small", [])
    if tables and small:
        top = next(one for one in placed if one.thing in tables)
        shown = _in_row(small, scene, top.y - top.height * 0.9, 0.78, luck, most_in_row=12)
        # As wide as the table, and no wider.
        placed += [replace(o, x=top.x + (o.x - 0.5) * 0.8, height=o.height * 0.8) for o in shown]
    else:
        standing = [one for one in scene.things if one in standing or one in small]
    return (placed + _in_row(standing, scene, foot, zoom, luck))[:_MOST_PLACED]


def _zone(scene: Scene, thing: Thing) -> str:
    zone = KINDS[thing.kind].zone
    if thing.place == "back" and zone not in ("sky", "wall"):
        return "back"
    if thing.place == "top":
        return "sky"
    if thing.kind == "rocket" and scene.backdrops[0] not in HORIZONLESS:
        return "ground"
    alone = len(scene.things) == 1 and thing.count == 1
    if zone == "wall" and alone:
        return "ground"
    return zone


def _in_sky(
    things: list[Thing], scene: Scene, horizon: float, zoom: float, luck: Random
) -> list[Placed]:
    """Spread over the sky; a lone flyer is the picture's subject and stands in its middle."""
    units = [(thing, number) for thing in things for number in range(thing.count)]
    alone = len(units) == 1 and len(scene.things) == 1
    placed = []
    for index, (thing, number) in enumerate(units):
        kind = KINDS[thing.kind]
        height = kind.height * thing.size * (zoom * 1.15 if alone else min(1.0, zoom))
        height *= 1.0 if alone else max(0.42, 1.0 - 0.09 * len(units))
        if alone:
            x, middle = _main_x(scene, luck), min(0.52, horizon - 0.08)
        else:
            x = (index + 0.5 + luck.uniform(-0.22, 0.22)) / len(units)
            middle = luck.uniform(0.16, max(0.2, min(horizon, 0.8) - 0.14))
        x = _COLUMNS.get(thing.place, x)
        if thing.kind == "rainbow":
            middle = min(horizon, 0.9) - height / 2
        half = height * kind.aspect / 2
        placed.append(
            Placed(
                thing,
                number,
                min(max(x, half * 0.8), 1 - half * 0.8),
                max(middle, height * 0.52) + height / 2,
                height,
                flip=luck.random() < 0.3,
                shadow=False,
            )
        )
    return placed


def _at_wall(things: list[Thing], horizon: float, zoom: float, company: bool) -> list[Placed]:
    placed = []
    units = [(thing, number) for thing in things for number in range(thing.count)]
    for index, (thing, number) in enumerate(units):
        kind = KINDS[thing.kind]
        height = kind.height * thing.size * min(1.15, max(0.8, zoom))
        x = (index + 0.5) / len(units) if len(units) > 1 else (0.6 if company else 0.5)
        foot = horizon + 0.02 if thing.kind == "door" else horizon - 0.16
        x = _COLUMNS.get(thing.place, x)
        placed.append(Placed(thing, number, x, max(foot, height + 0.02), height, shadow=False))
    return placed


def _in_row(
    things: list[Thing],
    scene: Scene,
    foot: float,
    zoom: float,
    luck: Random,
    *,
    most_in_row: int = 4,
) -> list[Placed]:
    """Side by side, as large as fits; too many stand in two rows, the fewer behind."""
    units = [(thing, number) for thing in things for number in range(thing.count)][:12]
    if not units:
        return []
    parted = len(units) // 2 if len(units) > most_in_row else 0
    rows = [units[:parted], units[parted:]] if parted else [units]
    sizes = [[KINDS[one.kind].height * one.size * zoom for one, _ in row] for row in rows]
    widest = max(_width(row, heights) for row, heights in zip(rows, sizes, strict=True))
    squeeze = min(1.0, 0.94 * (1.12 if scene.frame == "close" else 1.0) / widest)
    if len(units) == 1:
        # One alone may grow to fill its frame.
        most = 1.3 if len(scene.things) == 1 else 1.0
        squeeze = min(most, 0.9 / widest, max(1.0, 0.76 / sizes[0][0]))
    placed: list[Placed] = []
    for behind, row, heights in zip(range(len(rows) - 1, -1, -1), rows, sizes, strict=True):
        shrink = squeeze * (1.0 - 0.15 * behind)
        fitted = [height * shrink for height in heights]
        # Rows of as many would hide each other.
        shift = (0.25 if behind else -0.25) / len(row) if len(rows[0]) == len(rows[-1]) else 0.0
        line = _row(row, fitted, scene, foot - 0.15 * behind, luck)
        placed += [replace(one, x=one.x + (shift if parted else 0.0)) for one in line]
    return _arranged(placed, scene, luck)


def _width(row: list[tuple[Thing, int]], heights: list[float]) -> float:
    pairs = zip(row, heights, strict=True)
    return sum(height * KINDS[thing.kind].aspect for (thing, _), height in pairs)


def _row(
    row: list[tuple[Thing, int]], heights: list[float], scene: Scene, foot: float, luck: Random
) -> list[Placed]:
    """One row over the whole width; what swims lies a little higher, each at its own height."""
    room = 1.0 - _width(row, heights)
    # Wider than the picture: the outer ones are cut evenly.
    gap = max(0.0, room) / (len(row) + 1)
    cursor = gap + min(0.0, room) / 2
    placed = []
    for (thing, number), height in zip(row, heights, strict=True):
        kind = KINDS[thing.kind]
        width = height * kind.aspect
        wet = scene.backdrops[0] in WATERS and kind.zone == "water"
        lift = luck.uniform(0.05, 0.1) if wet else 0.0
        x = cursor + width / 2
        cursor += width + gap
        placed.append(_standing(scene, thing, number, x, foot - lift, height, luck))
    return placed


def _standing(
    scene: Scene, thing: Thing, number: int, x: float, y: float, height: float, luck: Random
) -> Placed:
    if scene.frame == "close" and thing.kind == "person" and thing.count == 1:
        hatted = not _TALL_HATS.isdisjoint(thing.wears)
        height = 0.76 if hatted else 0.92
        return Placed(thing, number, x, _BUST_FOOT, height, bust=True, shadow=False)
    flip = luck.random() < 0.35 if scene.layout != "symmetric" else x > 0.5
    # A tall thing in a close frame is cut at its feet, not at its head.
    return Placed(thing, number, x, max(y, height * 0.97 + 0.03), height, flip=flip)


def _arranged(placed: list[Placed], scene: Scene, luck: Random) -> list[Placed]:
    """One alone goes where the layout wants it; a place that was named wins."""
    if len(placed) == 1:
        placed = [replace(placed[0], x=_main_x(scene, luck))]
    return [
        replace(one, x=_COLUMNS[one.thing.place] + 0.1 * one.number)
        if one.thing.place in _COLUMNS
        else one
        for one in placed
    ]


def _main_x(scene: Scene, luck: Random) -> float:
    if scene.layout in ("centred", "symmetric"):
        return 0.5
    if scene.layout in ("thirds", "roomy"):
        return luck.choice((0.335, 0.665))
    return 0.5 + luck.uniform(-0.05, 0.05)
