"""Blocks of a prompt text: what keeps its meaning by itself, under the headings it stands below.

A block is a bullet with what hangs on it, a row of a table, a fenced or indented passage, a JSON
object, or a sentence. Its path names the headings, list leads and table heads above it, so that a
block can be put into another text at the place where it means the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

_HEADING = re.compile(r"(?P<marks>#{1,6})[ \t]+\S|\*\*[^*]+\*\*:?[ \t]*\Z")
_BULLET = re.compile(r"(?P<indent>[ \t]*)(?:[-*•+]|\(?\d{1,3}[.)])[ \t]+\S")
_MARKS = re.compile(r"\A(?:[-*•+#>]+|\(?\d{1,3}[.)])\s+")
_FENCE = re.compile(r"[ \t]*(?P<marks>`{3,}|~{3,})")
_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-{2,}[-:| \t]*\Z")
_SENTENCE = re.compile(r"(?<=[.!?])[ \t]+(?=[A-Z{\"'(\[])")
_ENDS = (".", "!", "?", ":", ";")
# Prose that was broken into lines has lines of some length; shorter ones stand for themselves.
_WRAPPED = 50


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a text. `before` is the white space that parts it from the one above."""

    text: str
    path: tuple[str, ...]
    before: str
    is_head: bool = False
    is_json: bool = False

    @property
    def key(self) -> str:
        """What makes two blocks the same: neither bullets nor case nor white space."""
        if self.is_json:
            return _json_key(self.text)
        return f"# {_key(self.text)}" if self.level else _key(self.text)

    @property
    def level(self) -> int:
        """Of a heading; 0 for anything else."""
        heading = _HEADING.match(self.text)
        return 0 if heading is None else len(heading["marks"] or "") or 7

    @property
    def is_table(self) -> bool:
        """Whether it is the head of a table: its rows stand below it."""
        return self.is_head and _RULE.match(self.text.partition("\n")[2]) is not None

    @property
    def place(self) -> tuple[str, ...]:
        """Its path and itself."""
        return (*self.path, self.key)


@lru_cache(maxsize=4_096)
def blocks_of(text: str) -> tuple[Block, ...]:
    """The blocks of a text in order; `text_of` gives it back, but for white space at the ends."""
    found = _Reader(text.split("\n")).read()
    used = {block.path[:depth] for block in found for depth in range(1, len(block.path) + 1)}
    # A heading of nothing is a line as any other.
    return tuple(
        replace(block, is_head=False) if block.is_head and block.place not in used else block
        for block in found
    )


def text_of(blocks: Sequence[Block]) -> str:
    """The text that blocks make."""
    return "".join(
        (block.before if number else block.before.lstrip("\n")) + block.text
        for number, block in enumerate(blocks)
    )


@lru_cache(maxsize=65_536)
def _key(text: str) -> str:
    bare = _MARKS.sub("", text.strip())
    return " ".join(bare.lower().split()).rstrip(".;,:*")


@lru_cache(maxsize=4_096)
def _json_key(text: str) -> str:
    found = json_in(text)
    return "\0" + (text if found is None else json.dumps(found[2], sort_keys=True))


def json_in(text: str) -> tuple[int, int, dict[str, Any]] | None:
    """Where a block's JSON object begins and ends, and what it is; None if it is nothing else."""
    fenced = _FENCE.match(text)
    start = text.find("\n") + 1 if fenced else 0
    start += len(text[start:]) - len(text[start:].lstrip())
    try:
        value, length = json.JSONDecoder().raw_decode(text[start:])
    except (ValueError, RecursionError):
        return None
    rest = text[start + length :].strip()
    whole = not rest.strip("`~") if fenced else not rest
    return (start, start + length, value) if whole and isinstance(value, dict) else None


class _Reader:
    """Reads the lines of one text into blocks."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._at = 0
        self._found: list[Block] = []
        self._headings: list[tuple[int, str]] = []
        self._list: list[tuple[int, str]] = []
        self._lead: str | None = None
        self._before = ""

    def read(self) -> list[Block]:
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if not line.strip():
                self._before += "\n"
                self._at += 1
                continue
            self._block(line)
        return self._found

    def _block(self, line: str) -> None:
        bullet = _BULLET.match(line)
        heading = _HEADING.match(line)
        if fence := _FENCE.match(line):
            self._passage(self._fence_end(fence["marks"]))
        elif line.lstrip()[:1] in "{[" and (end := self._json_end()) is not None:
            self._passage(end)
        elif heading and not bullet:
            self._heading(line, len(heading["marks"] or "") or 7)
        elif "|" in line and self._at + 1 < len(self._lines) and _RULE.match(self._line(1)):
            self._table()
        elif bullet:
            self._bullet(len(bullet["indent"].expandtabs(4)))
        elif line.startswith(("    ", "\t")) and not self._list:
            self._passage(self._indented_end())
        else:
            self._paragraph()

    def _line(self, ahead: int) -> str:
        return self._lines[self._at + ahead] if self._at + ahead < len(self._lines) else ""

    def _path(self, *, below_list: bool = False) -> tuple[str, ...]:
        heads = [key for _, key in self._headings]
        if self._lead is not None:
            heads.append(self._lead)
        if below_list:
            heads += [key for _, key in self._list]
        return tuple(heads)

    def _add(self, text: str, path: tuple[str, ...], lines: int, **more: bool) -> None:
        before = self._before + ("\n" if self._found else "")
        self._found.append(Block(text, path, before, **more))
        self._before = ""
        self._at += lines

    def _end_list(self) -> None:
        self._list, self._lead = [], None

    def _heading(self, line: str, level: int) -> None:
        self._end_list()
        self._headings = [one for one in self._headings if one[0] < level]
        self._add(line, self._path(), 1, is_head=True)
        self._headings.append((level, self._found[-1].key))

    def _passage(self, end: int) -> None:
        self._end_list()
        text = "\n".join(self._lines[self._at : end])
        self._add(text, self._path(), end - self._at, is_json=json_in(text) is not None)

    def _fence_end(self, marks: str, ahead: int = 0) -> int:
        for number in range(self._at + ahead + 1, len(self._lines)):
            line = self._lines[number].strip()
            if len(line) >= len(marks) and not line.strip(marks[0]):
                return number + 1
        return len(self._lines)

    def _json_end(self) -> int | None:
        text = "\n".join(self._lines[self._at :])
        start = len(text) - len(text.lstrip())
        try:
            value, end = json.JSONDecoder().raw_decode(text[start:])
        except ValueError:
            return None
        whole = isinstance(value, dict) and (text[start + end :].split("\n", 1)[0].strip() == "")
        return self._at + text[: start + end].count("\n") + 1 if whole else None

    def _indented_end(self) -> int:
        end = self._at
        while end < len(self._lines) and self._lines[end].startswith(("    ", "\t")):
            end += 1
        return end

    def _table(self) -> None:
        self._end_list()
        head = "\n".join(self._lines[self._at : self._at + 2])
        self._add(head, self._path(), 2, is_head=True)
        path = (*self._path(), _key(head))
        while "|" in self._line(0) and not _BULLET.match(self._line(0)):
            self._add(self._line(0), path, 1)

    def _bullet(self, indent: int) -> None:
        self._list = [one for one in self._list if one[0] < indent]
        text = [self._line(0)]
        while (more := self._line(len(text))).strip() and not _BULLET.match(more):
            if len(more) - len(more.lstrip()) <= indent:
                break
            fence = _FENCE.match(more)
            end = self._fence_end(fence["marks"], len(text)) if fence else self._at + len(text) + 1
            text += self._lines[self._at + len(text) : end]
        below = _BULLET.match(self._line(len(text)))
        nests = below is not None and len(below["indent"].expandtabs(4)) > indent
        whole = "\n".join(text)
        self._add(whole, self._path(below_list=True), len(text), is_head=nests)
        if nests:
            self._list.append((indent, _key(whole)))

    def _paragraph(self) -> None:
        line = self._line(0)
        if not (self._list and line.startswith((" ", "\t"))):
            self._end_list()
        text = [line]
        while self._goes_on(text[-1], self._line(len(text))):
            text.append(self._line(len(text)))
        whole = "\n".join(text)
        self._before += "\n" if self._found else ""
        at = 0
        for end in [*_SENTENCE.finditer(whole), None]:
            piece = whole[at : end.start() if end else len(whole)]
            leads = end is None and piece.rstrip().endswith(":") and self._lists_follow(len(text))
            if leads:
                self._end_list()
            self._found.append(Block(piece, self._path(), self._before, is_head=leads))
            if end is not None:
                at, self._before = end.end(), end[0]
            elif leads:
                self._lead = _key(piece)
        self._before = ""
        self._at += len(text)

    def _lists_follow(self, ahead: int) -> bool:
        following = (one for one in self._lines[self._at + ahead :] if one.strip())
        return _BULLET.match(next(following, "")) is not None

    def _goes_on(self, line: str, following: str) -> bool:
        """Whether a line of prose is broken off and goes on below."""
        plain = bool(following.strip()) and not (
            _BULLET.match(following)
            or _HEADING.match(following)
            or _FENCE.match(following)
            or "|" in following
            or following.lstrip()[:1] in "{["
        )
        return plain and len(line) >= _WRAPPED and not line.rstrip().endswith(_ENDS)
