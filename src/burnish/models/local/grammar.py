"""GBNF grammar for a choice of labels, the form in which llama.cpp takes constraints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from burnish.domain import UsageError

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def labels_grammar(labels: Sequence[str]) -> str:
    """A grammar whose only sentences are these labels, each exactly as it is written."""
    distinct = list(dict.fromkeys(labels))
    if not distinct:
        raise _refused("there are no labels", "name at least one label, or leave labels out")
    return "root ::= " + " | ".join(_literal(label) for label in distinct)


def label_question(labels: Sequence[str]) -> dict[str, Any]:
    """What a worker needs to tell the probability of each label."""
    return {
        "labels": list(dict.fromkeys(labels)),
        "never": unused_character(labels),
        "rests": shared_beginnings(labels),
    }


def shared_beginnings(labels: Sequence[str]) -> dict[str, str]:
    """Every text with which several labels begin, and the grammar of what may follow it."""
    distinct = list(dict.fromkeys(labels))
    beginnings = {label[:end] for label in distinct for end in range(1, len(label) + 1)}
    going_on = {
        text: [label[len(text) :] for label in distinct if label.startswith(text)]
        for text in sorted(beginnings)
    }
    return {
        text: "root ::= " + " | ".join(_literal(rest) if rest else '""' for rest in rests)
        for text, rests in going_on.items()
        if len(rests) > 1
    }


def unused_character(labels: Sequence[str]) -> str:
    """A character of ASCII, and so one token, that no label holds."""
    used = set("".join(labels))
    return next((one for one in map(chr, range(126, 32, -1)) if one not in used), "\x7f")


def label_tokens(labels: Sequence[str]) -> int:
    """Enough tokens for any of the labels: byte-level tokens hold a byte or more, then comes the
    end mark."""
    return max(len(label.encode()) for label in labels) + 1


def _literal(label: str) -> str:
    if not label:
        raise _refused("a label is empty", "give every label a text")
    if "\x00" in label:
        raise _refused(f"the label {label!r} holds a NUL character", "remove that character")
    try:
        label.encode()
    except UnicodeEncodeError as error:
        raise _refused(
            f"the label {label!r} holds half of a surrogate pair", "save the source as valid UTF-8"
        ) from error
    return f'"{"".join(_escaped(character) for character in label)}"'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"


def _refused(why: str, fix: str) -> UsageError:
    return UsageError(
        what="the choice of labels cannot be used", why=why, fix=fix, code="bad_labels"
    )
