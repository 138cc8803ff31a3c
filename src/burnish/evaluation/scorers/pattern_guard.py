"""Regular expressions of strangers: which of them are sure to end soon."""

from __future__ import annotations

import re

LONGEST_PATTERN = 500
# Two of them side by side take a time that grows with the square of the text, and so on.
MOST_REPEATS = 3
_REPEATED_GROUP = re.compile(r"(?<!\\)\)[*+{]")
_REPEAT = re.compile(r"(?<!\\)(?:[*+]|\{\d*,\})")

WHY_SLOW = (
    "the pattern could take for ever: it repeats a group, repeats without an end more "
    f"than {MOST_REPEATS} times, or has more than {LONGEST_PATTERN} characters"
)


def may_take_for_ever(pattern: str) -> bool:
    """Whether some text could keep the pattern busy; it errs on the side of saying so."""
    return (
        len(pattern) > LONGEST_PATTERN
        or _REPEATED_GROUP.search(pattern) is not None
        or len(_REPEAT.findall(pattern)) > MOST_REPEATS
    )
