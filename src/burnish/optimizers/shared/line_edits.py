"""A rewrite taken apart into line-level edits, which can be tried alone and joined again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from rapidfuzz import fuzz

# A line longer than this is read sentence by sentence.
_LONG = 300
_SENTENCE_END = re.compile(r"(?<=[.!?])[ \t]+(?=[A-Z{\"'(\[])")
_MARKS = re.compile(r"^(?:[-*•#>]+|\(?\d{1,3}[.)])\s+")
_REWORDED = 55.0


@dataclass(frozen=True, slots=True)
class Unit:
    """A line, or a sentence of a long line, with the white space after it."""

    text: str
    tail: str

    @property
    def key(self) -> str:
        """What makes two units the same: neither bullets nor case nor white space."""
        return key_of(self.text)


@dataclass(frozen=True, slots=True)
class LineEdit:
    """One unit added (`old` empty), dropped (`new` empty) or exchanged.

    `after` is the key of the unit before an added one; it goes to the end where that is missing.
    """

    section: str
    old: str
    new: str
    after: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """Equal edits have equal keys, wherever they stand."""
        return (self.section, key_of(self.old), key_of(self.new))

    def describe(self) -> str:
        """In words, for rationales and for the meta-model."""
        if not self.old:
            return f"added “{self.new.strip()}”"
        if not self.new:
            return f"dropped “{self.old.strip()}”"
        return f"changed “{self.old.strip()}” to “{self.new.strip()}”"


def key_of(text: str) -> str:
    """Lower case, no bullet, single blanks, no full stop."""
    bare = _MARKS.sub("", text.strip())
    return " ".join(bare.lower().split()).rstrip(".;,")


def split_units(text: str) -> list[Unit]:
    """The text in units; joined again they give the text, unless it is blank."""
    found: list[Unit] = []
    indent = ""
    for line in re.findall(r"[^\n]*\n+|[^\n]+\Z", text):
        body = line.rstrip("\n")
        breaks = line[len(body) :]
        if not body.strip():
            if found:
                found[-1] = Unit(found[-1].text, found[-1].tail + line)
            else:
                indent += line
            continue
        parts = _sentences(indent + body)
        indent = ""
        for number, part in enumerate(parts):
            bare = part.rstrip()
            tail = part[len(bare) :] + (breaks if number == len(parts) - 1 else "")
            found.append(Unit(bare, tail))
    return found


def split_edits(section: str, old: str, new: str) -> list[LineEdit]:
    """The edits that lead from one text to another, in the order of the new text."""
    return list(_edits(section, old, new))


@lru_cache(maxsize=16_384)
def _edits(section: str, old: str, new: str) -> tuple[LineEdit, ...]:
    """Cached: a search asks for the same pairs in every step."""
    before, after = split_units(old), split_units(new)
    gone, come = _changes(before, after)
    matcher = SequenceMatcher(
        a=[unit.key for unit in before], b=[unit.key for unit in after], autojunk=False
    )
    found: list[LineEdit] = []
    for kind, start, end, new_start, new_end in matcher.get_opcodes():
        if kind == "equal":
            continue
        previous = before[start - 1].key if start else ""
        left = _taken(before[start:end], gone)
        found += _exchanged(section, left, after[new_start:new_end], come, previous)
    return tuple(found)


def apply_edits(text: str, edits: Iterable[LineEdit]) -> str:
    """The text under these edits. What is there already, or no longer, is left out."""
    units = split_units(text)
    for edit in edits:
        units = _applied(units, edit)
    return "".join(unit.text + unit.tail for unit in units).rstrip("\n")


def kept_share(old: str, new: str) -> float:
    """How much of the old text's units the new one has, word for word."""
    before = [unit.key for unit in split_units(old)]
    after = {unit.key for unit in split_units(new)}
    return sum(key in after for key in before) / len(before) if before else 1.0


def _sentences(line: str) -> list[str]:
    if len(line) <= _LONG:
        return [line]
    parts, start = [], 0
    for end in _SENTENCE_END.finditer(line):
        parts.append(line[start : end.end()])
        start = end.end()
    return [*parts, line[start:]]


def _changes(before: Sequence[Unit], after: Sequence[Unit]) -> tuple[Counter[str], Counter[str]]:
    """Keys that are gone and keys that are new: what only stands elsewhere now is neither."""
    old, new = Counter(unit.key for unit in before), Counter(unit.key for unit in after)
    return old - new, new - old


def _taken(units: Sequence[Unit], wanted: Counter[str]) -> list[Unit]:
    """Those that are wanted, each as often as it is."""
    found = []
    for unit in units:
        if wanted[unit.key] > 0:
            wanted[unit.key] -= 1
            found.append(unit)
    return found


def _exchanged(
    section: str,
    left: list[Unit],
    after: Sequence[Unit],
    come: Counter[str],
    previous: str,
) -> list[LineEdit]:
    """Rewordings paired by likeness; the rest was added or dropped."""
    found: list[LineEdit] = []
    for unit in after:
        if _taken([unit], come):
            like = max(left, key=lambda one: fuzz.ratio(one.key, unit.key), default=None)
            if like is not None and fuzz.ratio(like.key, unit.key) >= _REWORDED:
                left.remove(like)
                found.append(LineEdit(section, like.text, unit.text))
            else:
                found.append(LineEdit(section, "", unit.text, previous))
        previous = unit.key
    return found + [LineEdit(section, unit.text, "") for unit in left]


def _applied(units: list[Unit], edit: LineEdit) -> list[Unit]:
    keys = [unit.key for unit in units]
    if edit.old:
        old = key_of(edit.old)
        if old not in keys:
            # Its line is gone; what it said may still be wanted.
            return _applied(units, LineEdit(edit.section, "", edit.new)) if edit.new else units
        place = keys.index(old)
        changed = [Unit(edit.new, units[place].tail)] if edit.new else []
        return [*units[:place], *changed, *units[place + 1 :]]
    if key_of(edit.new) in keys:
        return units
    place = keys.index(edit.after) + 1 if edit.after in keys else len(units)
    ended = [*units]
    if place and "\n" not in ended[place - 1].tail:
        ended[place - 1] = Unit(ended[place - 1].text, "\n")
    tail = ended[place - 1].tail if 0 < place < len(ended) else "\n"
    return [*ended[:place], Unit(edit.new, tail), *ended[place:]]
