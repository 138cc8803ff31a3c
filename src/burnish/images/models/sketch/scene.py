"""What a picture shows: things, where they are, in what light and style."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

MOST_THINGS = 8
MOST_OF_ONE = 9
_LONGEST_WORD = 40
_MOST_WORDS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """One kind of thing, `count` times. `kind` "unknown" is drawn as a shape of its word's own.

    `place` is one of left, right, centre, top, back, front, or empty for where it fits.
    """

    kind: str
    word: str
    count: int = 1
    colour: str | None = None
    size: float = 1.0
    place: str = ""
    wears: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A picture in words of the sketch's vocabulary. `seed` decides everything left open.

    `backdrops` are drawn from the far to the near, and `absent` is what none of them may show.
    `turns` has a number for each edit, which moves what was left open a little.
    """

    seed: int
    things: tuple[Thing, ...] = ()
    backdrops: tuple[str, ...] = ()
    light: str = ""
    weather: tuple[str, ...] = ()
    styles: tuple[str, ...] = ()
    frame: str = ""
    layout: str = ""
    tint: str | None = None
    mood: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    turns: tuple[int, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The form that `of` reads."""
        return asdict(self)

    @classmethod
    def of(cls, value: Any) -> Scene | None:
        """From its JSON form, which came with a file and may be anything; None when it is no scene."""
        if not isinstance(value, Mapping) or not isinstance(value.get("seed"), int):
            return None
        things = value.get("things")
        read = [_thing(one) for one in (things if isinstance(things, list) else [])[:MOST_THINGS]]
        turns = value.get("turns")
        return cls(
            seed=value["seed"] & 0xFFFF_FFFF,
            things=tuple(thing for thing in read if thing),
            turns=tuple(
                one & 0xFFFF
                for one in (turns if isinstance(turns, list) else [])[-_MOST_WORDS:]
                if isinstance(one, int)
            ),
            light=_word(value.get("light")),
            frame=_word(value.get("frame")),
            layout=_word(value.get("layout")),
            backdrops=_words(value.get("backdrops")),
            weather=_words(value.get("weather")),
            styles=_words(value.get("styles")),
            mood=_words(value.get("mood")),
            absent=_words(value.get("absent")),
            tint=_word(value.get("tint")) or None,
        )


def _thing(value: Any) -> Thing | None:
    if not isinstance(value, Mapping) or not _word(value.get("kind")):
        return None
    count, size = value.get("count"), value.get("size")
    return Thing(
        kind=_word(value["kind"]),
        word=_word(value.get("word")) or _word(value["kind"]),
        count=max(1, min(MOST_OF_ONE, count)) if isinstance(count, int) else 1,
        colour=_word(value.get("colour")) or None,
        size=max(0.2, min(3.0, float(size))) if isinstance(size, (int, float)) else 1.0,
        place=_word(value.get("place")),
        wears=_words(value.get("wears")),
    )


def _word(value: Any) -> str:
    return value[:_LONGEST_WORD] if isinstance(value, str) else ""


def _words(value: Any) -> tuple[str, ...]:
    given = value if isinstance(value, list) else []
    return tuple(word for word in map(_word, given[:_MOST_WORDS]) if word)
