"""Units of a text that can be left out: sentences, fenced blocks and whole examples."""

from __future__ import annotations

import re
from collections.abc import Sequence

from burnish.optimizers.edits.edit import SENTENCE_END
from burnish.optimizers.shared.line_edits import Unit

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
_FENCE = re.compile(r"^\s*(?:```|~~~)")

_ILLUSTRATES = re.compile(
    r"^\W*(?:for (?:example|instance)\b|e\.g\.|such as\b|examples?\s*(?:\d+)?\s*[:.)-]|"
    r"consider (?:this|the following) example)",
    re.IGNORECASE,
)


def is_illustration(unit: str) -> bool:
    """Whether a unit is an example, or a sentence that begins like one."""
    lines = unit.splitlines()
    return _ILLUSTRATES.match(unit) is not None or example_spans(lines) == [(0, len(lines))]


def split_units(text: str) -> list[Unit]:
    """The parts in order, each with the white space after it; joined they give the text."""
    found: list[Unit] = []
    for piece in _pieces(text):
        bare = piece.rstrip()
        tail = piece[len(bare) :]
        if bare:
            found.append(Unit(bare, tail))
        elif found:
            found[-1] = Unit(found[-1].text, found[-1].tail + tail)
        else:
            found.append(Unit("", tail))
    return found


def _pieces(text: str) -> list[str]:
    """Fences before examples: what stands between them belongs together in any case."""
    pieces: list[str] = []
    block: list[str] = []
    plain: list[str] = []
    for line in text.splitlines(keepends=True):
        fence = bool(_FENCE.match(line))
        if not block and not fence:
            plain.append(line)
            continue
        pieces += _plain_pieces(plain)
        plain = []
        block.append(line)
        if fence and len(block) > 1:
            pieces.append("".join(block))
            block = []
    pieces += _plain_pieces(plain)
    return [*pieces, "".join(block)] if block else pieces


def _plain_pieces(lines: list[str]) -> list[str]:
    pieces: list[str] = []
    ends = dict(example_spans(lines))
    index = 0
    while index < len(lines):
        end = ends.get(index)
        if end is None:
            pieces += _sentences(lines[index])
        else:
            pieces.append("".join(lines[index:end]))
        index = end or index + 1
    return pieces


def _sentences(line: str) -> list[str]:
    pieces: list[str] = []
    start = 0
    for end in SENTENCE_END.finditer(line):
        pieces.append(line[start : end.end()])
        start = end.end()
    return [*pieces, line[start:]]


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
