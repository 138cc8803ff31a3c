"""A text in the smallest parts that can be left out by themselves: sentences and fenced blocks."""

from __future__ import annotations

import re

from burnish.optimizers.line_edits import Unit

_FENCE = re.compile(r"^\s*(?:```|~~~)")
_SENTENCE_END = re.compile(r"(?<=[.!?])[ \t]+(?=[A-Z\"'“(\[{])")


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
    pieces: list[str] = []
    block: list[str] = []
    for line in text.splitlines(keepends=True):
        fence = bool(_FENCE.match(line))
        if block or fence:
            block.append(line)
            if fence and len(block) > 1:
                pieces.append("".join(block))
                block = []
            continue
        start = 0
        for end in _SENTENCE_END.finditer(line):
            pieces.append(line[start : end.end()])
            start = end.end()
        pieces.append(line[start:])
    return [*pieces, "".join(block)] if block else pieces
