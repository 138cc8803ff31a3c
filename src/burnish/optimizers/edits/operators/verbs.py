"""Verbs that give a job, in classes whose members can replace each other."""

from __future__ import annotations

import re

_OPENING = re.compile(
    r"(?P<opening>(?:please|kindly|your (?:task|job) is to|you (?:must|should|will)|i want you to)\s+)?"
    r"(?P<verb>[a-z]+)\b",
    re.IGNORECASE,
)
_CLASSES: tuple[tuple[str, ...], ...] = (
    ("classify", "determine", "identify", "judge", "label", "categorize", "detect", "predict"),
    ("route", "assign", "direct", "send"),
    ("summarize", "condense", "shorten"),
    ("extract", "find", "list", "collect"),
    ("write", "compose", "draft", "create", "generate"),
    ("rate", "score", "grade", "evaluate"),
    ("rewrite", "rephrase", "reword", "paraphrase"),
    ("explain", "describe", "clarify"),
    ("answer", "reply", "respond"),
    ("translate",),
    ("decide", "tell", "say"),
    ("solve", "compute", "calculate", "work"),
    ("correct", "fix", "repair", "proofread"),
    ("read", "look", "consider", "check", "review", "compare"),
)
_SPELT = {"categorise": "categorize", "summarise": "summarize"}
# These take words after them that the others of their class do not.
_FIXED = frozenset({"reply", "respond", "decide", "tell", "say", "work", "look", "read"})
CHOOSING = _CLASSES[0]


def verb_class(sentence: str) -> tuple[str, ...] | None:
    """The class of the verb that a sentence opens with."""
    found = _OPENING.match(sentence)
    if not found:
        return None
    verb = _SPELT.get(found["verb"].lower(), found["verb"].lower())
    return next((one for one in _CLASSES if verb in one), None)


def opening_verb(sentence: str) -> str | None:
    """The verb that a sentence opens with, if it is known."""
    found = _OPENING.match(sentence)
    return found["verb"] if found and verb_class(sentence) is not None else None


def replacements(sentence: str) -> dict[str, str]:
    """The sentence with each verb that can stand for its own."""
    found, members = _OPENING.match(sentence), verb_class(sentence)
    if not found or not members or found["verb"].lower() in _FIXED:
        return {}
    here = _SPELT.get(found["verb"].lower(), found["verb"].lower())
    start, end = found.span("verb")
    return {
        verb: sentence[:start]
        + (verb.capitalize() if found["verb"][:1].isupper() else verb)
        + sentence[end:]
        for verb in members
        if verb != here and verb not in _FIXED
    }
