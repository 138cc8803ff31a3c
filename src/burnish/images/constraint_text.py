"""Constraints of an image run as words of a prompt: what must be shown and what must not."""

from __future__ import annotations

import re
from collections.abc import Iterable

from burnish.domain.images.runs import Constraints
from burnish.images.models.picture_words import PLAIN

_INCLUDE = "Must include"
_AVOID = "Must avoid"
_AVOID_CLAUSE = re.compile(rf"{_AVOID}: [^\n]*")
_CLAUSES = re.compile(rf"\n(?=(?:{_INCLUDE}|{_AVOID}): )")
_DENIAL = re.compile(
    r"\b(?:no|not|without|avoid|avoiding|never|free of|exclude|omit)\b", re.IGNORECASE
)
_WORDS = re.compile(r"[a-z]{3,}")
# A denial reaches over a few words: "no visible text", "without any watermark".
_REACH = 40


def mentions(text: str, term: str) -> bool:
    """Whether a text asks for a term as words of its own; "no text" does not ask for text."""
    asked = _AVOID_CLAUSE.sub("", text)
    for found in re.finditer(rf"(?<!\w){re.escape(term)}(?!\w)", asked, re.IGNORECASE):
        before = re.split(r"[.;!?\n]", asked[max(0, found.start() - _REACH) : found.start()])[-1]
        if not _DENIAL.search(before):
            return True
    return False


def asks_for_any(text: str, terms: Iterable[str]) -> bool:
    """Whether it asks for one of the terms at least."""
    return any(mentions(text, term) for term in terms)


def with_constraints(prompt: str, constraints: Constraints) -> str:
    """The prompt with a line for each list; what it says already is not said twice."""
    lines = [prompt.strip()]
    missing = [term for term in constraints.must_include if not mentions(prompt, term)]
    if missing:
        lines.append(f"{_INCLUDE}: {', '.join(missing)}.")
    avoid = f"{_AVOID}: {', '.join(constraints.must_avoid)}."
    if constraints.must_avoid and avoid not in prompt:
        lines.append(avoid)
    return "\n".join(lines)


def without_constraints(prompt: str) -> str:
    """The prompt without the lines of its constraints."""
    return _CLAUSES.split(prompt.strip(), maxsplit=1)[0]


def has_nothing_of(text: str, prompt: str, constraints: Constraints) -> bool:
    """Whether a text has none of the words that were asked for: then it is about something else.

    Prompts without words of Latin letters cannot be told apart so.
    """
    wanted = " ".join((prompt, *constraints.must_include))
    asked = set(_WORDS.findall(wanted.casefold())) - PLAIN
    return bool(asked) and asked.isdisjoint(_WORDS.findall(text.casefold()))


def extended(prompt: str, addition: str) -> str:
    """The prompt with a sentence more, before the lines of its constraints."""
    body, *clauses = _CLAUSES.split(prompt.strip(), maxsplit=1)
    ended = body if body.endswith((".", "!", "?", "…")) else f"{body}."
    return "\n".join([f"{ended} {addition}.", *clauses])
