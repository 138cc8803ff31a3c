"""Wishes of a prompt that figures can show, and how far a picture grants each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

from burnish.domain.images.runs import Constraints
from burnish.images.models.colours import LOOKS, colour_name
from burnish.images.models.picture_words import (
    BACKDROPS,
    FRAMES,
    LAYOUTS,
    LIGHTS,
    MOODS,
    PLAIN,
    STYLES,
    WEATHER,
    singular,
    split_negations,
    words_of,
)

if TYPE_CHECKING:
    from burnish.images.models.pixel_judge.measures import Measures

Test = Callable[["Measures"], float]
# A colour that takes so much of a picture is plainly there.
_PLAINLY = 0.12


@dataclass(frozen=True, slots=True)
class Wish:
    """One asked word with its measure, how much it counts, and what it is about."""

    word: str
    granted: float
    weight: float
    about: str


def ramp(value: float, low: float, high: float) -> float:
    """0 at one end and 1 at the other; the ends may stand either way round."""
    return max(0.0, min(1.0, (value - low) / (high - low)))


def share(measures: Measures, *names: str) -> float:
    """How much of the picture has one of these colours."""
    return sum(measures.families.get(name, 0.0) for name in names)


def _warm(m: Measures) -> float:
    return share(m, "red", "orange", "yellow", "brown", "pink")


def _electric(m: Measures) -> float:
    return share(m, "magenta", "purple", "cyan", "pink", "blue")


_LIGHT_TESTS: Mapping[str, Test] = {
    "day": lambda m: ramp(m.brightness, 0.3, 0.5),
    "night": lambda m: ramp(m.dark, 0.25, 0.6),
    "sunset": lambda m: ramp(_warm(m), 0.15, 0.45) * ramp(m.brightness, 0.85, 0.7),
    "sunrise": lambda m: ramp(_warm(m), 0.1, 0.4) * ramp(m.brightness, 0.3, 0.5),
    "golden-hour": lambda m: ramp(_warm(m), 0.15, 0.5) * ramp(m.brightness, 0.25, 0.45),
    "neon": lambda m: ramp(_electric(m), 0.1, 0.4) * ramp(m.dark, 0.15, 0.45),
    "studio-lit": lambda m: (m.calm + ramp(m.brightness, 0.35, 0.6)) / 2,
    "dramatic": lambda m: (ramp(m.dark, 0.2, 0.55) + ramp(m.contrast, 0.3, 0.7)) / 2,
    "softly-lit": lambda m: (ramp(m.clipped, 0.2, 0.0) + ramp(m.contrast, 0.9, 0.45)) / 2,
    "backlit": lambda m: ramp(m.light, 0.05, 0.3),
    "candlelit": lambda m: ramp(_warm(m), 0.2, 0.5) * ramp(m.dark, 0.1, 0.5),
    "overcast": lambda m: ramp(m.saturation, 0.5, 0.2),
}
_STYLE_TESTS: Mapping[str, Test] = {
    "watercolour": lambda m: (ramp(m.light, 0.08, 0.3) + 2 * ramp(m.noise, 0.15, 0.4)) / 3,
    "oil": lambda m: (ramp(m.saturation, 0.2, 0.45) + ramp(m.noise, 0.2, 0.45)) / 2,
    "line-art": lambda m: ramp(m.saturation, 0.25, 0.05) * ramp(m.light, 0.35, 0.7),
    "pixel-art": lambda m: ramp(m.blocks, 0.6, 0.85) * ramp(m.edges, 0.3, 1.5),
    "minimal": lambda m: (ramp(m.palette, 26, 8) + ramp(m.edges, 5, 1.5)) / 2,
    "cinematic": lambda m: max(ramp(m.bars, 0.04, 0.12), ramp(m.corners, 0.05, 0.3)),
    "vintage": lambda m: (
        ramp(share(m, "brown", "grey", "orange", "yellow"), 0.4, 0.8) * ramp(m.saturation, 0.6, 0.4)
    ),
    "noir": lambda m: ramp(m.saturation, 0.2, 0.04),
    "comic": lambda m: (ramp(m.saturation, 0.2, 0.45) + ramp(m.blocks, 0.2, 0.6)) / 2,
    "grain": lambda m: ramp(m.noise, 0.8, 3.0),
}
_MOOD_TESTS: Mapping[str, Test] = {
    "vibrant": lambda m: ramp(m.saturation, 0.25, 0.55),
    "muted": lambda m: ramp(m.saturation, 0.5, 0.2),
    "pastel": lambda m: ramp(m.brightness, 0.5, 0.75) * ramp(m.saturation, 0.55, 0.3),
    "warm": lambda m: ramp(_warm(m), 0.1, 0.45),
    "cool": lambda m: ramp(share(m, "blue", "cyan", "purple"), 0.1, 0.45),
    "dark": lambda m: ramp(m.dark, 0.2, 0.5),
    "contrasty": lambda m: ramp(m.contrast, 0.35, 0.7),
    "bokeh": lambda m: m.separation,
}
_LAYOUT_TESTS: Mapping[str, Test] = {
    "centred": lambda m: ramp(abs(m.centre[0] - 0.5), 0.16, 0.02),
    "thirds": lambda m: ramp(min(abs(m.centre[0] - 1 / 3), abs(m.centre[0] - 2 / 3)), 0.15, 0.03),
    "symmetric": lambda m: ramp(m.symmetry, 0.4, 0.85),
    "roomy": lambda m: ramp(m.subject, 0.4, 0.15),
}
_FRAME_TESTS: Mapping[str, Test] = {
    "close": lambda m: ramp(m.subject, 0.08, 0.24),
    "wide": lambda m: ramp(m.subject, 0.3, 0.1),
}
_PLACE_TESTS: Mapping[str, Test] = {
    "forest": lambda m: ramp(share(m, "green", "brown"), 0.08, 0.35),
    "field": lambda m: ramp(share(m, "green", "yellow"), 0.08, 0.3),
    "garden": lambda m: ramp(share(m, "green"), 0.08, 0.3),
    "hills": lambda m: ramp(share(m, "green", "yellow", "brown"), 0.08, 0.3),
    "lake": lambda m: ramp(share(m, "blue", "cyan"), 0.06, 0.3),
    "river": lambda m: ramp(share(m, "blue", "cyan"), 0.05, 0.2),
    "sea": lambda m: ramp(share(m, "blue", "cyan"), 0.08, 0.35),
    "beach": lambda m: ramp(share(m, "yellow", "orange", "brown", "white"), 0.08, 0.3),
    "desert": lambda m: ramp(share(m, "yellow", "orange", "brown"), 0.12, 0.4),
    "snowfield": lambda m: ramp(share(m, "white", "grey"), 0.15, 0.4),
    "space": lambda m: ramp(m.dark, 0.35, 0.7),
    "underwater": lambda m: ramp(share(m, "blue", "cyan"), 0.25, 0.6),
    "sky": lambda m: ramp(share(m, "blue", "cyan", "white"), 0.15, 0.45),
    "studio": lambda m: m.calm,
    "night": lambda m: ramp(m.dark, 0.2, 0.5),
}
_WEATHER_TESTS: Mapping[str, Test] = {
    "fog": lambda m: ramp(m.contrast, 0.7, 0.3),
    "storm": lambda m: ramp(m.brightness, 0.6, 0.4),
    "snow": lambda m: ramp(share(m, "white", "grey"), 0.1, 0.3),
}
_TABLES: tuple[tuple[Mapping[str, str], Mapping[str, Test], float, str], ...] = (
    (LIGHTS, _LIGHT_TESTS, 1.0, "light"),
    (STYLES, _STYLE_TESTS, 1.0, "style"),
    (MOODS, _MOOD_TESTS, 0.7, "style"),
    (LAYOUTS, _LAYOUT_TESTS, 0.8, "composition"),
    (FRAMES, _FRAME_TESTS, 0.8, "composition"),
    (BACKDROPS, _PLACE_TESTS, 0.7, "place"),
    (WEATHER, _WEATHER_TESTS, 0.6, "light"),
)


def wishes_of(prompt: str, constraints: Constraints, measures: Measures) -> list[Wish]:
    """Every measurable word of the request; what is unwanted is granted by its absence."""
    wanted, unwanted = split_negations(prompt)
    asked = words_of(f"{wanted}, {', '.join(constraints.must_include).lower()}")
    banned = words_of(f"{unwanted}, {', '.join(constraints.must_avoid).lower()}")
    granted = {wish.word: wish for word in asked if (wish := _wish(word, measures))}
    for word in banned:
        wish = _wish(word, measures)
        if wish and wish.about == "colour":
            granted[f"no {word}"] = Wish(f"no {word}", 1.0 - wish.granted, 0.8, "colour")
    return list(granted.values())


def spoken_words(prompt: str) -> set[str]:
    """The words of the prompt that mean something, measurable or not."""
    wanted, _ = split_negations(prompt)
    return {word for word in words_of(wanted) if word.isalpha() and word not in PLAIN}


def _wish(word: str, measures: Measures) -> Wish | None:
    name = colour_name(word)
    if name:
        seen = share(measures, *LOOKS[name])
        # A thin red bicycle is red too, though it fills little.
        return Wish(word, sqrt(ramp(seen, 0.002, _PLAINLY)), 1.2, "colour")
    one = singular(word)
    for table, tests, weight, about in _TABLES:
        kind = table.get(word) or table.get(one) or ""
        if kind in tests:
            return Wish(word, tests[kind](measures), weight, about)
    return None
