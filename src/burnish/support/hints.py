"""Near-miss hints: what somebody may have meant by a name that nothing has."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, choices: Iterable[str]) -> str:
    """A hint for people: the choice most like the name, and all there are."""
    known = sorted(choices)
    close = get_close_matches(name, known, n=1)
    every = ", ".join(known)
    return f"did you mean {close[0]!r}? There are {every}" if close else f"use one of {every}"


def did_you_mean(
    name: str, choices: Iterable[str], otherwise: str = "", *, cutoff: float = 0.6
) -> str:
    """The choice most like the name as a question, or something else where none is like it."""
    close = get_close_matches(name, list(choices), n=1, cutoff=cutoff)
    return f"did you mean {close[0]!r}?" if close else otherwise
