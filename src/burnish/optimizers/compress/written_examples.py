"""Examples that are written inside a section: an input, and the answer under it."""

from __future__ import annotations

import re
from collections.abc import Sequence

_HEADING = re.compile(
    r"^\s*(?:[-*#>]+\s*)?(?:\*\*)?examples?(?:\s+\d+)?\s*[:.)]?(?:\*\*)?\s*$", re.IGNORECASE
)
_LABELLED = re.compile(r"^\s*(?:[-*>]\s+)?(?:\*\*)?([A-Za-z][\w ]{0,24}?)(?:\*\*)?\s*:\s*(\S.*)?$")
_ANSWERS = frozenset(
    {
        "output",
        "answer",
        "a",
        "label",
        "response",
        "assistant",
        "expected",
        "result",
        "sentiment",
        "category",
        "class",
    }
)
_INPUTS = frozenset(
    {
        "input",
        "question",
        "q",
        "user",
        "review",
        "ticket",
        "message",
        "text",
        "email",
        "query",
        "request",
        "sentence",
        "example",
    }
)
_ARROW = re.compile(r"\S\s*(?:->|=>|→)\s*\S")


def example_spans(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Where examples stand, as half-open ranges of lines; a heading belongs to the one below it.

    An input without a written answer is no example: it may be the form that the item is put into.
    """
    found: list[tuple[int, int]] = []
    index = 0
    while index < len(lines):
        end = _end_of_example(lines, index)
        if end is None:
            index += 1
            continue
        found.append((index, end))
        index = end
    return found


def _end_of_example(lines: Sequence[str], start: int) -> int | None:
    first = start + 1 if _HEADING.match(lines[start]) else start
    if first >= len(lines):
        return None
    if first > start and _ARROW.search(lines[first]):
        return first + 1
    if _label(lines[first]) not in _INPUTS:
        return None
    for index in range(first + 1, len(lines)):
        if not lines[index].strip() or _label(lines[index]) in _INPUTS:
            return None
        labelled = _LABELLED.match(lines[index])
        if labelled and _label(lines[index]) in _ANSWERS:
            return index + 1 if labelled.group(2) else None
    return None


def _label(line: str) -> str:
    found = _LABELLED.match(line)
    return re.sub(r"\s*\d+$", "", found.group(1)).lower().strip() if found else ""
