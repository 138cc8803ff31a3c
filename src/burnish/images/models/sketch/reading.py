"""Reads a prompt into a scene."""

from __future__ import annotations

import re
import unicodedata
import zlib
from dataclasses import replace

from burnish.images.models.sketch.manners import (
    LIGHTS,
    MOODS,
    PHRASES,
    PLAIN,
    STYLES,
    WEATHER,
    split_negations,
)
from burnish.images.models.sketch.reader import BREAKS, Reader
from burnish.images.models.sketch.scene import MOST_THINGS, Scene, Thing
from burnish.images.models.sketch.words import BACKDROPS, THINGS, singular

_LONGEST_PROMPT = 4000
_TOKEN = re.compile(r"\([a-z-]+\)|[\w&']+(?:-[\w']+)*|[,.;:!?\n]")
_PHRASE = re.compile(
    r"\b(?:" + "|".join(re.escape(one) for one in sorted(PHRASES, key=len, reverse=True)) + r")\b"
)
_MOST_ABSENT = 12


def read_prompt(prompt: str, known: frozenset[str] | None = None) -> tuple[Scene, frozenset[str]]:
    """The scene that a prompt asks for, and the words that it does not want to see.

    With `known`, as for an edit, other words of no meaning are things only where the prompt says
    to add or to include them.
    """
    text = unicodedata.normalize("NFKC", prompt)[:_LONGEST_PROMPT]
    wanted, unwanted = split_negations(text)
    reader = Reader(known=known)
    for word in words_of(wanted):
        reader.read(word)
    reader.read(".")
    scene = Scene(
        seed=zlib.crc32(" ".join(text.lower().split()).encode()),
        things=_merged(reader.things),
        backdrops=tuple(dict.fromkeys(reader.backdrops)),
        light=reader.light,
        weather=tuple(dict.fromkeys(reader.weather)),
        styles=tuple(dict.fromkeys(reader.styles)),
        frame=reader.frame,
        layout=reader.layout,
        tint=reader.tint,
        mood=tuple(dict.fromkeys(reader.moods)),
    )
    banned = frozenset(words_of(unwanted)) - BREAKS - PLAIN
    return without(scene, banned), banned


def words_of(text: str) -> list[str]:
    """Words and breaks, with phrases joined to one word."""
    return _TOKEN.findall(_PHRASE.sub(lambda found: f" {PHRASES[found[0]]} ", text))


def without(scene: Scene, banned: frozenset[str]) -> Scene:
    """The scene less what is not wanted in it."""
    if not banned:
        return scene
    kinds = {singular(word) for word in banned} | banned
    kinds |= {table[word] for table in _TABLES for word in kinds if word in table}
    return replace(
        scene,
        absent=tuple(sorted({*scene.absent, *map(singular, banned)}))[:_MOST_ABSENT],
        things=tuple(
            replace(one, wears=tuple(worn for worn in one.wears if worn not in kinds))
            for one in scene.things
            if one.kind not in kinds and one.word not in kinds
        ),
        backdrops=tuple(one for one in scene.backdrops if one not in kinds),
        weather=tuple(one for one in scene.weather if one not in kinds),
        styles=tuple(one for one in scene.styles if one not in kinds),
        mood=tuple(one for one in scene.mood if one not in kinds),
        light="" if scene.light in kinds else scene.light,
    )


_TABLES = (THINGS, BACKDROPS, WEATHER, STYLES, LIGHTS, MOODS)


def _merged(things: list[Thing]) -> tuple[Thing, ...]:
    """Named twice is one thing: the later words add what the first left open."""
    found: dict[tuple[str, str], Thing] = {}
    for thing in things:
        # Two people in two roles are two people, as two shapes of two words are two.
        role = " ".join(thing.wears) if thing.kind == "person" else ""
        key = (thing.kind, thing.word if thing.kind == "unknown" else role)
        first = found.get(key)
        if first is None:
            found[key] = thing
        elif first.colour and thing.colour and first.colour != thing.colour:
            found[thing.kind, thing.colour] = thing
        else:
            found[key] = replace(
                first,
                count=max(first.count, thing.count),
                colour=first.colour or thing.colour,
                place=first.place or thing.place,
                wears=tuple(dict.fromkeys((*first.wears, *thing.wears))),
            )
    return tuple(found.values())[:MOST_THINGS]
