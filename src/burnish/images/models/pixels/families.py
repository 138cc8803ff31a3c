"""Which colour a pixel has, in the coarse words that people use."""

from __future__ import annotations

from collections.abc import Mapping

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
