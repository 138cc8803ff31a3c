"""Takes the words of a prompt one after the other."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from burnish.images.models.colours import colour_name
from burnish.images.models.sketch.manners import (
    FRAMES,
    LAYOUTS,
    LIGHTS,
    MOODS,
    PLAIN,
    STYLES,
    WEATHER,
)
from burnish.images.models.sketch.scene import MOST_OF_ONE, Thing
from burnish.images.models.sketch.words import (
    BACKDROPS,
    NUMBERS,
    ROLES,
    SIZES,
    THINGS,
    WORN,
    singular,
)

BREAKS = frozenset(",.;:!?\n")
_ARTICLES = frozenset(["a", "an", "the", "with", "of", "and", "by", "some", "add", "include"])
# After these, another thing begins.
_ENDS = frozenset(
    ["a", "an", "the", "and", "on", "in", "at", "with", "near", "beside", "behind", "under", "over"]
)
_LIVING = frozenset(["person", "robot", "cat", "dog", "fox", "bear", "rabbit", "owl", "duck"])
_ADJECTIVES = (
    "ing",
    "ed",
    "ly",
    "ful",
    "ous",
    "ish",
    "y",
    "ic",
    "al",
    "ive",
    "able",
    "ible",
    "est",
)
_MOST_UNKNOWN = 2


@dataclass(slots=True)
class Reader:
    """Walks over the words; keeps what was said of the next thing until it comes."""

    things: list[Thing] = field(default_factory=list)
    backdrops: list[str] = field(default_factory=list)
    weather: list[str] = field(default_factory=list)
    styles: list[str] = field(default_factory=list)
    moods: list[str] = field(default_factory=list)
    light: str = ""
    frame: str = ""
    layout: str = ""
    tint: str | None = None
    colour: str | None = None
    count: int = 0
    size: float = 1.0
    role: list[str] = field(default_factory=list)
    previous: str = ""
    wearing: bool = False
    asking: bool = False
    fresh: bool = False
    where: str = ""
    known: frozenset[str] | None = None

    def read(self, word: str) -> None:
        """Take the next word, or the mark that ends a clause."""
        if word in BREAKS:
            self.settle()
            self.end_clause()
            self.asking = self.asking and word in ",:"
        elif word.startswith("("):
            self.place(word.strip("()"))
        elif not self._modifier(word):
            self._noun(word)
        self.previous = word

    def _modifier(self, word: str) -> bool:
        if word in ("wearing", "wears"):
            self.settle()
            self.wearing = True
        elif word in ("add", "include", "including"):
            self.asking = True
        elif word in NUMBERS or word.isdecimal():
            self.count = NUMBERS.get(word) or max(1, min(MOST_OF_ONE, int(word[:3])))
        elif word in SIZES:
            self.size *= SIZES[word]
        elif colour_name(word) and not (word == "orange" and self.previous in ("an", "one")):
            self.colour = colour_name(word)
        else:
            return self._manner(word)
        return True

    def _manner(self, word: str) -> bool:
        if word == "portrait":
            self.frame = "close"
            return True
        if word in LIGHTS:
            self._lit(LIGHTS[word])
        elif word in WEATHER:
            self.weather.append(WEATHER[word])
        elif word in STYLES:
            self.styles.append(STYLES[word])
        elif word in FRAMES:
            self.frame = FRAMES[word]
        elif word in LAYOUTS:
            self.layout = LAYOUTS[word]
        elif word in MOODS:
            self.moods.append(MOODS[word])
        else:
            return False
        return True

    def _lit(self, light: str) -> None:
        """The last decides; but soft light is only a shade of another, and neon is lit at night."""
        kept = (light == "softly-lit" and self.light) or (light == "night" and self.light == "neon")
        self.light = self.light if kept else light

    def _noun(self, word: str) -> None:
        one = singular(word)
        plural = one != word
        if one in ROLES:
            self._role(ROLES[one], plural)
        elif self.wearing and one in WORN and self.things:
            last = self.things[-1]
            self.things[-1] = replace(last, wears=(*last.wears, WORN[one]))
            self.colour = None
        elif one in THINGS:
            self._add(THINGS[one], one, plural)
        elif word in BACKDROPS or one in BACKDROPS:
            self.settle()
            self.backdrops.append(BACKDROPS.get(word) or BACKDROPS[one])
            self.tint, self.colour = self.colour or self.tint, None
            self.forget()
        elif word not in PLAIN and one not in PLAIN:
            self._unknown(one, plural)
        elif word in _ENDS:
            self.settle()

    def _role(self, role: str, plural: bool) -> None:
        """What the animal just named is ("a cat astronaut", "a cat as a king"), or a person's."""
        last = self.things[-1] if self.things else None
        adjacent = self.previous == "as" or (last and singular(self.previous) == last.word)
        if last and adjacent and last.kind in _LIVING:
            self.things[-1] = replace(last, wears=(*last.wears, role))
        else:
            self.role.append(role)
            self.count = self.count or (3 if plural else 0)

    def _unknown(self, word: str, plural: bool) -> None:
        nouns = self.previous in _ARTICLES or self.count > 0 or self.colour is not None
        nouns = self.asking or (nouns and (self.known is None or word in self.known))
        adjective = word.endswith(_ADJECTIVES)
        unknown = sum(thing.kind == "unknown" for thing in self.things)
        fit = word.isalpha() and 3 <= len(word) <= 24 and unknown < _MOST_UNKNOWN
        if nouns and fit and not adjective:
            self._add("unknown", word, plural)

    def _add(self, kind: str, word: str, plural: bool) -> None:
        roles, self.role = tuple(self.role), []
        self.things.append(
            Thing(
                kind=kind,
                word=word,
                count=min(MOST_OF_ONE, self.count or (3 if plural else 1)),
                colour=self.colour,
                size=max(0.3, min(2.0, self.size)),
                place=self.where,
                wears=roles if kind in _LIVING else (),
            )
        )
        self.forget()
        self.fresh, self.where = True, ""

    def settle(self) -> None:
        """A role that nobody took is a person's."""
        if self.role:
            self._add("person", self.role[-1], plural=False)

    def place(self, where: str) -> None:
        """Where the last thing is, or the next."""
        self.settle()
        self.where = where.removeprefix("next-") if where.startswith("next-") else ""
        if self.things and not self.where:
            self.things[-1] = replace(self.things[-1], place=where)
        self.forget()

    def end_clause(self) -> None:
        """A colour that came after its thing ("paint the door blue") is that thing's."""
        if self.colour and self.fresh and self.things and not self.things[-1].colour:
            self.things[-1] = replace(self.things[-1], colour=self.colour)
        self.fresh = False
        self.forget()

    def forget(self) -> None:
        """What was said counts for nothing that comes now."""
        self.colour, self.count, self.size, self.wearing = None, 0, 1.0, False
