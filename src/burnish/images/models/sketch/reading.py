"""Sketch reading: a prompt as a scene of sky, ground, light, framing and labelled shapes."""

from __future__ import annotations

import unicodedata
import zlib
from dataclasses import dataclass, field, replace
from typing import Any

from burnish.images.models import picture_words as lexicon
from burnish.images.models.colours import colour_name

MOST_THINGS = 8
MOST_OF_ONE = 9
_LONGEST_PROMPT = 4000
_LONGEST_WORD = 40
_MOST_WORDS = 12
_LONGEST_COMPOUND = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """A labelled shape, `count` times. `place` is left, right, centre, top, back or empty."""

    word: str
    count: int = 1
    colour: str | None = None
    size: float = 1.0
    place: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A picture in words. `seed` decides everything left open, `undrawn` is what it leaves out.

    `turns` has a number for each edit, which moves what was left open a little. `absent` is what
    must not be seen.
    """

    seed: int
    things: tuple[Thing, ...] = ()
    backdrops: tuple[str, ...] = ()
    sky: tuple[str, ...] = ()
    light: str = ""
    weather: tuple[str, ...] = ()
    styles: tuple[str, ...] = ()
    frame: str = ""
    layout: str = ""
    tint: str | None = None
    mood: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    undrawn: tuple[str, ...] = ()
    turns: tuple[int, ...] = ()

    def without(self, banned: frozenset[str]) -> Scene:
        """The scene less what is not wanted in it."""
        if not banned:
            return self
        kinds = {lexicon.singular(word) for word in banned} | banned
        kinds |= {table[word] for table in lexicon.SEEN for word in kinds if word in table}
        kept: dict[str, Any] = {
            name: tuple(one for one in getattr(self, name) if one not in kinds)
            for name in ("backdrops", "sky", "weather", "styles", "mood", "undrawn")
        }
        return replace(
            self,
            absent=tuple(sorted({*self.absent, *map(lexicon.singular, banned)}))[:_MOST_WORDS],
            things=tuple(one for one in self.things if not kinds & {one.word, *one.word.split()}),
            light="" if self.light in kinds else self.light,
            **kept,
        )

    def edited(self, asked: Scene, banned: frozenset[str]) -> Scene:
        """This scene with what was asked changed; what the new prompt does not name stays."""
        rest = list(asked.things)
        kept = []
        for thing in self.things:
            named = next((one for one in rest if one.word == thing.word), None)
            if named is not None:
                rest.remove(named)
                thing = _changed(thing, named)  # noqa: PLW2901
            kept.append(thing)
        changed = {
            name: getattr(asked, name) or getattr(self, name)
            for name in ("backdrops", "sky", "light", "weather", "styles", "frame", "layout")
        }
        merged = replace(
            self,
            things=(*kept, *rest)[:MOST_THINGS],
            tint=asked.tint or self.tint,
            mood=asked.mood or self.mood,
            undrawn=tuple(dict.fromkeys((*self.undrawn, *asked.undrawn)))[:_MOST_WORDS],
            turns=(*self.turns, asked.seed & 0xFFFF)[-6:],
            **changed,
        )
        return merged.without(banned)


def read_prompt(prompt: str, known: frozenset[str] | None = None) -> tuple[Scene, frozenset[str]]:
    """The scene that a prompt asks for, and the words that it does not want to see.

    With `known`, as for an edit, a noun that is not among them is a thing only after "a", a number,
    a colour, or where the prompt says to add it.
    """
    text = unicodedata.normalize("NFKC", prompt)[:_LONGEST_PROMPT]
    wanted, unwanted = lexicon.split_negations(text)
    reader = _Reader(known=known)
    for word in [*lexicon.words_of(wanted), "."]:
        reader.read(word)
    scene = Scene(
        seed=zlib.crc32(" ".join(text.lower().split()).encode()),
        things=reader.merged_things(),
        light=reader.light,
        frame=reader.frame,
        layout=reader.layout,
        tint=reader.tint,
        **{name: tuple(dict.fromkeys(words)) for name, words in reader.lists.items()},  # type: ignore[arg-type]
        undrawn=tuple(dict.fromkeys(reader.undrawn))[:_MOST_WORDS],
    )
    banned = frozenset(lexicon.words_of(unwanted)) - lexicon.BREAKS - lexicon.PLAIN
    return scene.without(banned), banned


@dataclass(slots=True)
class _Reader:
    """Walks over the words; keeps what was said of the next thing until its noun ends."""

    known: frozenset[str] | None = None
    things: list[Thing] = field(default_factory=list)
    undrawn: list[str] = field(default_factory=list)
    lists: dict[str, list[str]] = field(
        default_factory=lambda: {
            name: [] for name in ("backdrops", "sky", "weather", "styles", "mood")
        }
    )
    light: str = ""
    frame: str = ""
    layout: str = ""
    tint: str | None = None
    colour: str | None = None
    count: int = 0
    size: float = 1.0
    determiner: str = ""
    pending: list[str] = field(default_factory=list)
    clauses: int = 0
    asking: bool = False

    def read(self, word: str) -> None:
        """Take the next word, or the mark that ends a clause."""
        if word in lexicon.BREAKS:
            self._end_clause(word)
        elif word.startswith("("):
            self._end_noun()
            if self.things:
                self.things[-1] = replace(self.things[-1], place=word.strip("()"))
        elif word in lexicon.NUMBERS or word.isdecimal():
            self._end_noun()
            self.count = lexicon.NUMBERS.get(word) or max(1, min(MOST_OF_ONE, int(word[:3])))
        elif word in lexicon.SIZES:
            self.size *= lexicon.SIZES[word]
        elif colour_name(word) and not (word == "orange" and self.determiner in ("an", "one")):
            self.colour = colour_name(word)
        elif not (self._manner(word) or self._place(word)):
            self._other(word)

    def _manner(self, word: str) -> bool:
        if word in lexicon.LIGHTS:
            # The last decides; but soft light is only a shade of another, and neon is lit at night.
            light = lexicon.LIGHTS[word]
            kept = {"softly-lit": bool(self.light), "night": self.light == "neon"}
            self.light = self.light if kept.get(light) else light
        elif word in lexicon.FRAMES:
            self.frame = lexicon.FRAMES[word]
        elif word in lexicon.LAYOUTS:
            self.layout = lexicon.LAYOUTS[word]
        else:
            for name, table in lexicon.MANNERS.items():
                if word in table:
                    self.lists[name].append(table[word])
                    return True
            return False
        return True

    def _place(self, word: str) -> bool:
        one = lexicon.singular(word)
        if one in lexicon.SKY:
            self.lists["sky"].append(lexicon.SKY[one])
        elif word in lexicon.BACKDROPS or one in lexicon.BACKDROPS:
            self.lists["backdrops"].append(lexicon.BACKDROPS.get(word) or lexicon.BACKDROPS[one])
            self.tint = self.colour or self.tint
        else:
            return False
        self.undrawn += self.pending
        self.pending = []
        self._forget()
        return True

    def _other(self, word: str) -> None:
        if word in lexicon.PLAIN or word in lexicon.RELATIONS:
            self._end_noun()
            self.undrawn += [word] if word in lexicon.RELATIONS else []
            self.asking = self.asking or word in lexicon.ASKING
            if self.known is None or word in lexicon.DETERMINERS:
                self.determiner = word
        elif (
            word.endswith("ing") and word not in lexicon.NOUNS_IN_ING and word not in lexicon.MEDIA
        ):
            self._end_noun()
            self.undrawn.append(word)
        else:
            self.pending.append(word)

    def _end_clause(self, mark: str) -> None:
        self._end_noun()
        if self.colour and self.things and not self.things[-1].colour:
            # A colour that came after its thing: "paint the door blue".
            self.things[-1] = replace(self.things[-1], colour=self.colour)
        self._forget()
        self.clauses += 1
        self.asking = self.asking and mark in ",:"

    def _end_noun(self) -> None:
        if self.pending:
            words, self.pending = self.pending, []
            if self._is_noun(words[-1]) and len(self.things) < MOST_THINGS:
                self._add(words)
            else:
                self.undrawn += words
        elif self.count or self.colour:
            return
        self.determiner = ""

    def _add(self, words: list[str]) -> None:
        one = lexicon.singular(words[-1])
        start = len(words) - 1
        while start and len(words) - start < _LONGEST_COMPOUND and not _modifies(words[start - 1]):
            start -= 1
        self.undrawn += words[:start]
        several = 3 if one != words[-1] and self.known is None else 1
        self.things.append(
            Thing(
                word=" ".join([*words[start:-1], one])[:_LONGEST_WORD],
                count=min(MOST_OF_ONE, self.count or several),
                colour=self.colour,
                size=max(0.3, min(2.0, self.size)),
            )
        )
        self._forget()

    def _is_noun(self, word: str) -> bool:
        one = lexicon.singular(word)
        if (
            not word.isalpha()
            or not 3 <= len(word) <= 24
            or word in lexicon.MEDIA
            or one in lexicon.MEDIA
        ):
            return False
        if word in lexicon.ADJECTIVES or word.endswith(lexicon.ADJECTIVE_HEAD):
            return False
        if self.asking or self.count or self.colour or self.determiner in ("a", "an"):
            return True
        if self.known is not None:
            return any(one in name.split() for name in self.known)
        return bool(self.determiner) or one != word or self.clauses == 0

    def _forget(self) -> None:
        self.colour, self.count, self.size, self.determiner = None, 0, 1.0, ""

    def merged_things(self) -> tuple[Thing, ...]:
        """Named twice is one thing: the later words add what the first left open."""
        found: dict[str, Thing] = {}
        for thing in self.things:
            first = found.get(thing.word)
            if first is None:
                found[thing.word] = thing
            elif first.colour and thing.colour and first.colour != thing.colour:
                found[f"{thing.colour} {thing.word}"] = thing
            else:
                found[thing.word] = replace(
                    first,
                    count=max(first.count, thing.count),
                    colour=first.colour or thing.colour,
                    place=first.place or thing.place,
                )
        return tuple(found.values())


def _modifies(word: str) -> bool:
    return word in lexicon.ADJECTIVES or (len(word) > 5 and word.endswith(lexicon.ADJECTIVE_ENDS))


def _changed(old: Thing, new: Thing) -> Thing:
    return replace(
        new,
        count=new.count if new.count > 1 else old.count,
        colour=new.colour or old.colour,
        size=new.size if new.size != 1.0 else old.size,
        place=new.place or old.place,
    )
