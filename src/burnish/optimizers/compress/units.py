"""A text in the smallest parts that can be left out: sentences, fenced blocks and whole examples."""

from __future__ import annotations

import re

from burnish.optimizers.compress.written_examples import example_spans
from burnish.optimizers.gepa.line_edits import Unit

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
    for end in _SENTENCE_END.finditer(line):
        pieces.append(line[start : end.end()])
        start = end.end()
    return [*pieces, line[start:]]
