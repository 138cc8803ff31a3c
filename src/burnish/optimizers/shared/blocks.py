"""Blocks of a prompt text: what keeps its meaning by itself, under the headings it stands below.

A block is a bullet with what hangs on it, a row of a table, a fenced or indented passage, a JSON
object, or a sentence. Its path names the headings, list leads and table heads above it, so that a
block can be put into another text at the place where it means the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from rapidfuzz import fuzz

_HEADING = re.compile(r"(?P<marks>#{1,6})[ \t]+\S|\*\*[^*]+\*\*:?[ \t]*\Z")
_BULLET = re.compile(r"(?P<indent>[ \t]*)(?:[-*•+]|\(?\d{1,3}[.)])[ \t]+\S")
_MARKS = re.compile(r"\A(?:[-*•+#>]+|\(?\d{1,3}[.)])\s+")
_FENCE = re.compile(r"[ \t]*(?P<marks>`{3,}|~{3,})")
_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-{2,}[-:| \t]*\Z")
_SENTENCE = re.compile(r"(?<=[.!?])[ \t]+(?=[A-Z{\"'(\[])")
_ENDS = (".", "!", "?", ":", ";")
_JSON = "\0json"
_REWORDED = 60.0
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
        return _JSON if self.is_json else _key(self.text)

    @property
    def place(self) -> tuple[str, ...]:
        """Its path and itself."""
        return (*self.path, self.key)


@lru_cache(maxsize=4_096)
def blocks_of(text: str) -> tuple[Block, ...]:
    """The blocks of a text in order; `text_of` gives it back, but for white space at the ends."""
    return tuple(_Reader(text.split("\n")).read())


def text_of(blocks: Sequence[Block]) -> str:
    """The text that blocks make."""
    kept = _without_empty_heads(blocks)
    return "".join(
        (block.before if number else block.before.lstrip("\n")) + block.text
        for number, block in enumerate(kept)
    )


def kept_share(old: str, new: str) -> float:
    """How much of the old text's blocks the new one has, word for word."""
    before = {block.key for block in blocks_of(old)}
    after = {block.key for block in blocks_of(new)}
    return len(before & after) / len(before) if before else 1.0


def added(old: str, new: str) -> list[Block]:
    """What only the new text has, heads left out."""
    return _missing(blocks_of(new), blocks_of(old))


def dropped(old: str, new: str) -> list[Block]:
    """What only the old text has, heads left out."""
    return _missing(blocks_of(old), blocks_of(new))


def without(text: str, unwanted: Iterable[Block]) -> str:
    """The text without some of its blocks; heads that lose all below them go as well."""
    places = {block.place for block in unwanted}
    return text_of([block for block in blocks_of(text) if block.place not in places])


def merged(base: str, first: str, *others: str) -> str:
    """The first text with what the others changed in the base.

    What another one only left out stays. Where two reworded the same block, the first one's counts.
    """
    made = first
    for other in others:
        made = _merged(base, made, other)
    return made


def restored(base: str, text: str) -> str:
    """The text with those blocks of the base that it dropped without putting others in their place."""
    gone = [block for block in dropped(base, text) if _reworded(block, added(base, text)) is None]
    made = list(blocks_of(text))
    for block in gone:
        made = _inserted(made, block, blocks_of(base))
    return text_of(made)


def _merged(base: str, first: str, other: str) -> str:
    theirs = blocks_of(other)
    known = {block.place: block for block in blocks_of(base)}
    gone = dropped(base, other)
    made = list(blocks_of(first))
    for block in added(base, other):
        if block.is_json:
            made = _with_json(made, block, known.get(block.place))
            continue
        old = _reworded(block, gone)
        if old is None:
            made = _inserted(made, block, theirs)
            continue
        gone = [one for one in gone if one.place != old.place]
        made = [
            replace(block, before=one.before) if one.place == old.place else one for one in made
        ]
    return text_of(made)


def _missing(blocks: Sequence[Block], among: Sequence[Block]) -> list[Block]:
    there = {(block.key, block.path, block.text if block.is_json else "") for block in among}
    return [
        block
        for block in blocks
        if not block.is_head
        and (block.key, block.path, block.text if block.is_json else "") not in there
    ]


def _reworded(block: Block, among: Sequence[Block]) -> Block | None:
    """The one of these that it says in other words, under the same heads."""
    alike = [one for one in among if one.path == block.path and one.is_json == block.is_json]
    best = max(alike, key=lambda one: fuzz.ratio(one.key, block.key), default=None)
    near = best is not None and fuzz.ratio(best.key, block.key) >= _REWORDED
    return best if near else None


def _inserted(made: list[Block], block: Block, source: Sequence[Block]) -> list[Block]:
    """With a block at the place that its heads give it; missing heads come along."""
    if any(one.place == block.place for one in made):
        return made
    for depth in range(1, len(block.path) + 1):
        if not any(one.is_head and one.place == block.path[:depth] for one in made):
            head = next(one for one in source if one.is_head and one.place == block.path[:depth])
            made = _placed(made, head)
    return _placed(made, block)


def _placed(made: list[Block], block: Block) -> list[Block]:
    """After the last block under the same head, else below the head, else at the end."""
    depth = len(block.path)
    place = len(made)
    for number, one in enumerate(made):
        if depth and one.place[:depth] == block.path:
            place = number + 1
    if not depth:
        # Above the first heading if there is one: below it, it would belong to that.
        plain = [n for n, one in enumerate(made) if not one.path and not one.is_head]
        if not block.is_head and plain:
            place = plain[-1] + 1
    before = block.before if "\n" in block.before or place else block.before or "\n"
    return [*made[:place], replace(block, before=before or "\n"), *made[place:]]


def _with_json(made: list[Block], block: Block, base: Block | None) -> list[Block]:
    """With the fields of a JSON object that the base does not have."""
    for number, one in enumerate(made):
        if one.is_json and one.path == block.path:
            new, here = _value(block), _value(one)
            old = {} if base is None else _value(base)
            if isinstance(new, dict) and isinstance(here, dict) and isinstance(old, dict):
                text = _rendered(one, _union(here, new, old))
                return [*made[:number], replace(one, text=text), *made[number + 1 :]]
            return made
    return [*made, replace(block, before=block.before or "\n")]


def _union(here: Mapping[str, Any], new: Mapping[str, Any], old: Mapping[str, Any]) -> Any:
    found = dict(here)
    for name, value in new.items():
        mine, was = found.get(name), old.get(name)
        if isinstance(mine, dict) and isinstance(value, dict):
            found[name] = _union(mine, value, was if isinstance(was, dict) else {})
        elif isinstance(mine, list) and isinstance(value, list):
            found[name] = [*mine, *(one for one in value if one not in mine)]
        elif name not in found or (mine == was and value != was):
            found[name] = value
    return found


def _value(block: Block) -> Any:
    start = min(n for n in (block.text.find("{"), block.text.find("[")) if n >= 0)
    return json.JSONDecoder().raw_decode(block.text[start:])[0]


def _rendered(block: Block, value: Any) -> str:
    start = min(n for n in (block.text.find("{"), block.text.find("[")) if n >= 0)
    _, end = json.JSONDecoder().raw_decode(block.text[start:])
    flat = "\n" not in block.text[start : start + end]
    made = json.dumps(value, ensure_ascii=False, indent=None if flat else 2)
    return block.text[:start] + made + block.text[start + end :]


def _without_empty_heads(blocks: Sequence[Block]) -> list[Block]:
    """Without heads that have nothing below them any more; a heading of nothing says nothing."""
    used = {block.path[:depth] for block in blocks if not block.is_head for depth in range(1, 9)}
    return [block for block in blocks if not block.is_head or block.place in used]


@lru_cache(maxsize=65_536)
def _key(text: str) -> str:
    bare = _MARKS.sub("", text.strip())
    return " ".join(bare.lower().split()).rstrip(".;,:*")


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
            self._passage(end, is_json=True)
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
        self._headings.append((level, _key(line)))

    def _passage(self, end: int, *, is_json: bool = False) -> None:
        self._end_list()
        text = "\n".join(self._lines[self._at : end])
        if not is_json:
            inside = text.split("\n", 1)[-1].lstrip()
            is_json = inside[:1] == "{" and _is_json(inside)
        self._add(text, self._path(), end - self._at, is_json=is_json)

    def _fence_end(self, marks: str) -> int:
        for number in range(self._at + 1, len(self._lines)):
            if self._lines[number].strip() == marks[0] * len(self._lines[number].strip()) and len(
                self._lines[number].strip()
            ) >= len(marks):
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
        while "|" in self._line(0):
            self._add(self._line(0), path, 1)

    def _bullet(self, indent: int) -> None:
        self._list = [one for one in self._list if one[0] < indent]
        text = [self._line(0)]
        while (more := self._line(len(text))).strip() and not _BULLET.match(more):
            if len(more) - len(more.lstrip()) <= indent:
                break
            text.append(more)
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
        following = next((one for one in self._lines[self._at + len(text) :] if one.strip()), "")
        if whole.rstrip().endswith(":") and _BULLET.match(following):
            self._add(whole, self._path(), len(text), is_head=True)
            self._lead = _key(whole)
            return
        path = self._path()
        at = 0
        for end in [*_SENTENCE.finditer(whole), None]:
            piece = whole[at : end.start() if end else len(whole)]
            if at:
                self._found.append(Block(piece, path, " "))
            else:
                self._add(piece, path, 0)
            at = end.end() if end else at
        self._at += len(text)

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


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.JSONDecoder().raw_decode(text)[0], dict)
    except ValueError:
        return False
