"""Lexicon of the edits: verbs of tasks, meanings of labels and words that may stand for them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

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
# Words that may stand for a label, each column a set that goes together.
_SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "positive": ("good", "favorable"),
    "negative": ("bad", "unfavorable"),
    "neutral": ("okay", "impartial"),
    "mixed": ("so-so", "undecided"),
    "yes": ("true", "correct"),
    "no": ("false", "incorrect"),
    "true": ("yes", "correct"),
    "false": ("no", "incorrect"),
    "spam": ("junk", "unwanted"),
    "ham": ("normal", "wanted"),
    "not spam": ("normal", "wanted"),
    "toxic": ("rude", "harmful"),
    "non-toxic": ("polite", "harmless"),
    "not toxic": ("polite", "harmless"),
    "relevant": ("useful", "related"),
    "irrelevant": ("useless", "unrelated"),
    "urgent": ("important", "pressing"),
    "not urgent": ("unimportant", "can wait"),
    "pass": ("good", "accept"),
    "fail": ("bad", "reject"),
    "safe": ("harmless", "fine"),
    "unsafe": ("harmful", "dangerous"),
    "correct": ("right", "true"),
    "incorrect": ("wrong", "false"),
    "subjective": ("opinion", "personal"),
    "objective": ("fact", "impersonal"),
    "entailment": ("yes", "true"),
    "contradiction": ("no", "false"),
}
# How a label completes "if …" about an input.
_MEANINGS: Mapping[str, str] = {
    "positive": "the writer likes it",
    "negative": "the writer does not like it",
    "neutral": "the writer neither likes nor dislikes it",
    "mixed": "the writer likes some of it and dislikes some of it",
    "spam": "it is unwanted advertising or a trick",
    "ham": "a person really wants to read it",
    "not spam": "a person really wants to read it",
    "toxic": "it insults or threatens somebody",
    "non-toxic": "it insults and threatens nobody",
    "not toxic": "it insults and threatens nobody",
    "relevant": "it helps with what was asked",
    "irrelevant": "it does not help with what was asked",
    "urgent": "it needs an answer at once",
    "not urgent": "it can wait",
    "safe": "it can harm nobody",
    "unsafe": "it can harm somebody",
    "correct": "everything in it is right",
    "incorrect": "something in it is wrong",
    "subjective": "it says what somebody thinks",
    "objective": "it says what is the case",
    "entailment": "it must be true",
    "contradiction": "it cannot be true",
    "yes": "it is so",
    "no": "it is not so",
    "true": "it is so",
    "false": "it is not so",
    "happy": "the writer feels happy",
    "sad": "the writer feels sad",
    "angry": "the writer feels angry",
    "joy": "the writer feels joy",
    "sadness": "the writer feels sadness",
    "anger": "the writer feels anger",
    "fear": "the writer feels fear",
    "love": "the writer feels love",
    "surprise": "the writer feels surprise",
}
_SENTIMENTS = frozenset({"positive", "negative", "neutral", "mixed"})
_EMOTIONS = frozenset(
    {"happy", "sad", "angry", "afraid", "joyful", "joy", "sadness", "anger", "fear", "love"}
    | {"surprise", "disgust", "neutral"}
)
_VERDICTS = frozenset({"yes", "no", "true", "false", "maybe", "unknown", "correct", "incorrect"})
_SHORT_FOR = {"pos": "positive", "neg": "negative", "neu": "neutral", "y": "yes", "n": "no"}
_TOPICAL = frozenset({"other", "others", "misc", "miscellaneous", "none", "unknown"})
_DESCRIBING = ("ful", "less", "ive", "ous", "able", "ible", "ic", "al", "ant", "ent", "ary")


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


def synonyms(labels: Sequence[str]) -> list[dict[str, str]]:
    """Sets of words that may stand for these labels; none when one label is unknown."""
    columns = [_SYNONYMS.get(_full(label)) for label in labels]
    known = [column for column in columns if column]
    if len(known) < len(labels):
        return []
    sets = [dict(zip(labels, words, strict=True)) for words in zip(*known, strict=False)]
    return [one for one in sets if len(set(one.values())) == len(labels)]


def meaning(label: str, words: str) -> str:
    """When the label is right, as what follows "if"; a guess from its name when it is unknown."""
    name = _full(label)
    if name in _MEANINGS:
        return _MEANINGS[name]
    if name in _TOPICAL:
        return "nothing else fits"
    if " " not in words and words.endswith(_DESCRIBING):
        return f"it is {words}"
    return f"it is about {words}"


def aspect_of(labels: Sequence[str]) -> str:
    """What such labels say of an input."""
    names = {_full(label) for label in labels}
    for aspect, known in (
        ("sentiment", _SENTIMENTS),
        ("emotion", _EMOTIONS),
        ("answer", _VERDICTS),
    ):
        if names <= known:
            return aspect
    return "category"


def _full(label: str) -> str:
    name = label.casefold()
    return _SHORT_FOR.get(name, name)
