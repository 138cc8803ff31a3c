"""Looks at the same items: each comparison is one more, and chance passes some look in the end."""

from __future__ import annotations

SIGNIFICANT = 0.05


def level_of(look: int) -> float:
    """How small the p-value has to be at a look at the same held-out items, the first being 1.

    However many looks there are, chance passes any of them with a probability of at most
    `SIGNIFICANT`: that is what the levels add up to.
    """
    return SIGNIFICANT / (look * (look + 1))


def level_by_hand(look: int) -> float:
    """The same where a person looks: one comparison alone is what it always was, later ones are not.

    The levels of all looks add up to 0.075.
    """
    return SIGNIFICANT if look <= 1 else level_of(look)


def look_words(look: int, level: float) -> str:
    """What to beware of from the second look on."""
    return f"look {look} at these items: a gain counts where p is below {level:.2g}"
