"""An edit: what a scene becomes when a new prompt is laid over it."""

from __future__ import annotations

from dataclasses import replace

from burnish.images.models.sketch.reading import without
from burnish.images.models.sketch.scene import MOST_THINGS, Scene, Thing


def merge(base: Scene, asked: Scene, banned: frozenset[str]) -> Scene:
    """The base with what was asked changed; what the new prompt does not name stays."""
    merged = replace(
        base,
        things=_things(base.things, asked.things),
        backdrops=asked.backdrops or base.backdrops,
        light=asked.light or base.light,
        weather=asked.weather or base.weather,
        styles=asked.styles or base.styles,
        frame=asked.frame or base.frame,
        layout=asked.layout or base.layout,
        tint=asked.tint or base.tint,
        mood=asked.mood or base.mood,
        turns=(*base.turns, asked.seed & 0xFFFF)[-6:],
    )
    return without(merged, banned)


def _things(old: tuple[Thing, ...], new: tuple[Thing, ...]) -> tuple[Thing, ...]:
    rest = list(new)
    kept = []
    for thing in old:
        named = next((one for one in rest if _same(thing, one)), None)
        if named is None:
            kept.append(thing)
            continue
        rest.remove(named)
        kept.append(_changed(thing, named))
    return (*kept, *rest)[:MOST_THINGS]


def _same(one: Thing, other: Thing) -> bool:
    if one.kind != other.kind:
        return False
    if one.kind == "person":
        return one.wears == other.wears or not (one.wears and other.wears)
    return one.kind != "unknown" or one.word == other.word


def _changed(old: Thing, new: Thing) -> Thing:
    return replace(
        new,
        count=new.count if new.count > 1 else old.count,
        colour=new.colour or old.colour,
        size=new.size if new.size != 1.0 else old.size,
        place=new.place or old.place,
        wears=new.wears or old.wears,
    )
