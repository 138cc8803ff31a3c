"""Mixture specs: the properties of one mixture world, drawn from a master seed, and its words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..draws import draw, pick, shuffled

FORMS = ("lines", "headings", "table", "prose", "json", "examples")
SCORES = ("fraction", "all", "label")
THEMES = ("lost", "hotel", "nursery")
_TRAITS = ("memorise", "forget", "wrong", "chatty", "refuse", "reword", "partial")


@dataclass(frozen=True, kw_only=True)
class Habits:
    """How the reflector answers; chances are for each thing that it might do.

    `memorise`: a note on the one item instead of a rule. `forget`: each old rule is dropped. `wrong`: a
    rule with a wrong code. `refuse`: no text, JSON, or half a text. `chatty`: talk and fences of all
    kinds. `reword`: other words and another order each time. `partial`: one new thing a call.
    """

    memorise: float = 0.0
    forget: float = 0.0
    wrong: float = 0.0
    refuse: float = 0.0
    chatty: bool = False
    reword: bool = False
    partial: bool = False


@dataclass(frozen=True, kw_only=True)
class Spec:
    """One mixture world; its truth and its items are drawn from its name.

    `form` is how a rule must stand to count, `obedience` the chance that a rule which counts is
    followed, `attention` what happens beyond the room for words, `interaction` how rules act on each
    other, `noise` the chance that feedback names a wrong code, `skew` how unequal shares are.
    """

    name: str
    theme: str = "lost"
    form: str = "lines"
    score: str = "label"
    cues: int = 10
    labels: int = 4
    sections: int = 1
    obedience: float = 1.0
    attention: str = "none"
    room: float = 1.15
    interaction: str = "none"
    short: bool = False
    skew: float = 0.0
    noise: float = 0.0
    train: int = 40
    validation: int = 40
    habits: Habits = field(default_factory=Habits)

    @property
    def about(self) -> str:
        """The properties in a line."""
        parts = [self.form, self.score, f"{self.cues} cues", f"val {self.validation}"]
        names = ("sections", "obedience", "attention", "interaction", "short", "skew", "noise")
        values = [(name, getattr(self, name)) for name in names]
        changed = [(name, one) for name, one in values if one != getattr(Spec, name)]
        changed += [(name, one) for name, one in vars(self.habits).items() if one]
        parts += [name if one is True else f"{name} {one}" for name, one in changed]
        return ", ".join(parts)


def draw_spec(master: object, name: str, number: int) -> Spec:
    """A spec from the master seed; form and score go round, so that a set has all of them."""
    key = (master, number)
    return Spec(
        name=name,
        theme=pick(THEMES, *key, "theme"),
        form=_around(FORMS, master, number, "form"),
        score=_around(SCORES, master, number, "score"),
        cues=_whole(8, 18, *key, "cues"),
        labels=_whole(3, 6, *key, "labels"),
        sections=_either(((0.6, 1), (0.25, 2), (0.15, 3)), *key, "sections"),
        obedience=1.0 if draw(*key, "obeys") < 0.35 else _real(0.75, 0.97, *key, "obedience"),
        attention=_either(((0.6, "none"), (0.2, "fade"), (0.2, "cut")), *key, "attention"),
        room=_real(1.05, 1.4, *key, "room"),
        interaction=_either(
            ((0.4, "none"), (0.2, "clash"), (0.2, "overreach"), (0.2, "prerequisite")),
            *(*key, "interaction"),
        ),
        short=draw(*key, "short") < 0.4,
        skew=_real(0.5, 1.1, *key, "skew") if draw(*key, "skewed") < 0.5 else 0.0,
        noise=_real(0.05, 0.2, *key, "noise") if draw(*key, "noisy") < 0.35 else 0.0,
        train=_whole(30, 80, *key, "train"),
        validation=_whole(20, 100, *key, "validation"),
        habits=_habits(key),
    )


def _habits(key: tuple[object, ...]) -> Habits:
    """None, one, two or three of the traits."""
    count = _either(((0.25, 0), (0.35, 1), (0.25, 2), (0.15, 3)), *key, "traits")
    ranges = {
        "memorise": (0.3, 0.6),
        "forget": (0.05, 0.2),
        "wrong": (0.1, 0.35),
        "refuse": (0.1, 0.35),
    }
    changes: dict[str, Any] = {
        trait: _real(*ranges[trait], *key, trait) if trait in ranges else True
        for trait in shuffled(_TRAITS, *key, "traits")[:count]
    }
    return replace(Habits(), **changes)


def _around(options: Sequence[str], master: object, number: int, what: str) -> str:
    turn, place = divmod(number, len(options))
    return shuffled(options, master, what, turn)[place]


def _either(options: Sequence[tuple[float, Any]], *key: object) -> Any:
    place = draw(*key)
    for share, option in options:
        place -= share
        if place < 0:
            return option
    return options[-1][1]


def _whole(low: int, high: int, *key: object) -> int:
    return low + int((high - low + 1) * draw(*key))


def _real(low: float, high: float, *key: object) -> float:
    return round(low + (high - low) * draw(*key), 2)


_TUNING_SEED, _REPORTING_SEED = 52_301, 90_847
SETS: Mapping[str, Sequence[Spec]] = {
    "tuning": [draw_spec(_TUNING_SEED, f"tuning-{n:02d}", n) for n in range(12)],
    "reporting": [draw_spec(_REPORTING_SEED, f"reporting-{n:02d}", n) for n in range(20)],
    "structured": [
        Spec(name=f"structured-{form}-{number}", theme="tickets", form=form)
        for form in ("headings", "table", "prose")
        for number in (1, 2, 3)
    ],
}
"""The frozen worlds: optimizers may be tuned on the first set only."""


# No thing's name is part of another's, of a code, or of what prompts usually say.
CUES = (
    *("lantern", "kettle", "violin", "umbrella", "saddle", "compass", "blanket", "telescope"),
    *("hammock", "parrot", "wallet", "bicycle", "trumpet", "necklace", "pillow", "thermos"),
    *("scarf", "helmet", "suitcase", "marble", "ladder", "gloves", "camera", "barrel"),
    *("carpet", "dagger", "feather", "goblet", "harp", "candle", "wagon", "anvil"),
    *("refund", "invoice", "charged", "password", "login", "parcel", "courier", "delivery"),
    *("crash", "overheating", "freezing", "warranty", "coupon", "username", "tracking", "pallet"),
)
_TICKET_CUES = 16
_COLOURS = ("amber", "teal", "ivory", "crimson", "olive", "indigo", "copper", "silver")
_PLACES = ("shelf", "bin", "rack", "vault", "crate")
_DEPARTMENTS = ("billing-team", "account-team", "shipping-team", "technical-team")
CODES = (*(f"{colour}-{place}" for place in _PLACES for colour in _COLOURS), *_DEPARTMENTS)

ADVICE = {
    "tally-mark": (
        "A tally-mark on a message puts it into the second class.",
        "Mind the tally-mark: it stands for the second class.",
    ),
    "narrow-reading": (
        "Use a narrow-reading of every rule.",
        "Every rule is to be taken in a narrow-reading.",
    ),
    "wide-reading": (
        "Use a wide-reading of every rule.",
        "Every rule is to be taken in a wide-reading.",
    ),
}
FILLERS = (
    "Read the message from the first word to the last before you decide.",
    "Quality matters more than speed in all that you do here.",
    "Keep in mind that a person is waiting for what you say.",
    "Stay calm and polite, whatever the tone of the message may be.",
    "When something is unclear, think about it for a moment longer.",
    "Do your very best on each message, as if it were the only one.",
)
DESKS = ("morning", "evening", "weekend")


@dataclass(frozen=True)
class Theme:
    """What the messages of a world are about."""

    opening: str
    messages: tuple[str, ...]
    cues: tuple[str, ...]
    codes: tuple[str, ...]


_THINGS, _TICKETS = CUES[:-_TICKET_CUES], CUES[-_TICKET_CUES:]
_PLACED = CODES[: -len(_DEPARTMENTS)]
FRAMES = {
    "lost": Theme(
        "You name the storage codes for the lost-property office.",
        ("Left behind on the train: {}.", "A traveller misses: {}.", "Found at the gate: {}."),
        _THINGS,
        _PLACED,
    ),
    "hotel": Theme(
        "You give out codes for what guests of the hotel ask for.",
        ("Room 12 asks for: {}.", "The guest would like: {}.", "By phone from the lobby: {}."),
        _THINGS,
        _PLACED,
    ),
    "nursery": Theme(
        "You sort the wishes of a toy maker's customers into codes.",
        ("A child dreams of: {}.", "On the list stands: {}.", "Ordered for the holidays: {}."),
        _THINGS,
        _PLACED,
    ),
    "tickets": Theme(
        "Route the ticket to a team.\nAnswer with the team's name.",
        (
            "There is something with: {}, since noon.",
            "I write about: {}.",
            "Trouble again with: {}.",
        ),
        _TICKETS,
        _DEPARTMENTS,
    ),
}
