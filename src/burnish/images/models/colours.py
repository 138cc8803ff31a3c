"""Colour names of pictures: what they look like, and which one a pixel has."""

from __future__ import annotations

from collections.abc import Mapping

Colour = tuple[int, int, int]
COLOURS: dict[str, Colour] = {
    "red": (208, 44, 48),
    "crimson": (172, 24, 52),
    "scarlet": (224, 48, 36),
    "maroon": (112, 28, 40),
    "orange": (240, 132, 32),
    "amber": (248, 176, 40),
    "yellow": (248, 208, 48),
    "gold": (220, 172, 56),
    "green": (64, 152, 72),
    "lime": (156, 212, 56),
    "olive": (124, 128, 56),
    "emerald": (24, 148, 100),
    "mint": (152, 220, 188),
    "teal": (28, 136, 140),
    "turquoise": (56, 196, 192),
    "cyan": (48, 200, 232),
    "blue": (44, 96, 196),
    "navy": (28, 44, 104),
    "azure": (64, 148, 232),
    "indigo": (72, 52, 148),
    "purple": (132, 60, 172),
    "violet": (148, 92, 212),
    "lavender": (188, 168, 228),
    "magenta": (216, 44, 160),
    "pink": (240, 136, 172),
    "rosy": (232, 120, 140),
    "peach": (248, 188, 152),
    "coral": (244, 116, 96),
    "brown": (124, 80, 48),
    "tan": (204, 168, 124),
    "beige": (224, 208, 176),
    "cream": (248, 236, 208),
    "white": (244, 244, 240),
    "ivory": (248, 244, 228),
    "grey": (136, 140, 148),
    "silver": (188, 196, 204),
    "black": (36, 36, 44),
}
SYNONYMS = {
    "gray": "grey",
    "golden": "gold",
    "ruby": "crimson",
    "burgundy": "maroon",
    "aqua": "turquoise",
    "fuchsia": "magenta",
    "lilac": "lavender",
    "sapphire": "blue",
    "jade": "emerald",
    "bronze": "brown",
    "copper": "brown",
    "khaki": "tan",
    "charcoal": "black",
}
# Where a hue ends, from 0 to 255 as Pillow counts it.
_HUES = (
    (9, "red"),
    (26, "orange"),
    (45, "yellow"),
    (108, "green"),
    (138, "cyan"),
    (178, "blue"),
    (208, "purple"),
    (240, "magenta"),
    (256, "red"),
)
# What a name may look like once light has fallen on it.
LOOKS: Mapping[str, frozenset[str]] = {
    name: frozenset(looks.split())
    for name, looks in {
        "red": "red",
        "crimson": "red",
        "scarlet": "red",
        "maroon": "red brown",
        "orange": "orange",
        "amber": "orange yellow",
        "yellow": "yellow",
        "gold": "yellow orange",
        "green": "green",
        "lime": "green yellow",
        "olive": "green yellow brown",
        "emerald": "green",
        "mint": "green cyan",
        "teal": "cyan green",
        "turquoise": "cyan",
        "cyan": "cyan",
        "blue": "blue",
        "navy": "blue",
        "azure": "blue cyan",
        "indigo": "blue purple",
        "purple": "purple magenta",
        "violet": "purple magenta",
        "lavender": "purple",
        "magenta": "magenta",
        "pink": "pink magenta",
        "rosy": "pink red",
        "peach": "orange pink",
        "coral": "red orange pink",
        "brown": "brown",
        "tan": "brown orange",
        "beige": "brown orange yellow white",
        "cream": "yellow white",
        "white": "white",
        "ivory": "white yellow",
        "grey": "grey",
        "silver": "grey white",
        "black": "black",
    }.items()
}


def colour_name(word: str) -> str | None:
    """The name that a word means, or None when it means no colour."""
    name = SYNONYMS.get(word, word)
    return name if name in COLOURS else None


def mix(one: Colour, other: Colour, share: float) -> Colour:
    """A colour between two; a share of 0 is the first."""
    kept = 1.0 - share
    return (
        round(one[0] * kept + other[0] * share),
        round(one[1] * kept + other[1] * share),
        round(one[2] * kept + other[2] * share),
    )


def shade(colour: Colour, amount: float) -> Colour:
    """Darker for amounts below 0, lighter above; -1 is black and 1 white."""
    return mix(colour, (255, 255, 255) if amount > 0 else (16, 12, 28), abs(amount))


def family(hue: int, saturation: int, value: int) -> str:
    """The colour of a pixel, from numbers up to 255."""
    if value < 46:
        return "black"
    if saturation < 44:
        return "white" if value > 205 else "grey"
    name = next(name for end, name in _HUES if hue < end)
    if name in ("red", "orange") and value < 165 and (name == "orange" or saturation < 140):
        return "brown"
    if name in ("red", "magenta") and saturation < 130 and value > 175:
        return "pink"
    return name
