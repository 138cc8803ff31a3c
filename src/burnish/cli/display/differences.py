"""What changed between two configurations, by section: lines, and the words within them."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from burnish.app.report.differences import Difference, ParameterChange, SectionChange
from burnish.cli.display.rows import print_indented
from burnish.cli.wording import harmless
from burnish.domain import Json
from burnish.domain.wording import counted

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
_CONTEXT = 2
# Below this, two lines have so little in common that marking single words only confuses.
_ALIKE = 0.4
_STYLES = {"-": ("red", "bold reverse red"), "+": ("green", "bold reverse green")}

Line = tuple[str, Text]


def print_difference(console: Console, change: Difference, *, indent: int = 2) -> None:
    """Every change, or that there is none."""
    if change.empty:
        print_indented(console, Text("no difference", style="dim"), indent)
    for section in change.sections:
        print_indented(console, Text(_heading(section), style="cyan"), indent)
        for mark, words in section_lines(section):
            print_indented(console, Text(f"{mark} ", style=_style(mark)) + words, indent + 2)
    for parameter in change.parameters:
        print_indented(console, Text(f"parameter {parameter.name}", style="cyan"), indent)
        for mark, words in _parameter_lines(parameter):
            print_indented(console, Text(f"{mark} ", style=_style(mark)) + words, indent + 2)
    if change.examples_changed:
        print_indented(console, Text(_examples_heading(change), style="cyan"), indent)
        before = [_as_json(dict(one)) for one in change.examples_before]
        after = [_as_json(dict(one)) for one in change.examples_after]
        for mark, words in _lines(before, after):
            print_indented(console, Text(f"{mark} ", style=_style(mark)) + words, indent + 2)


def section_lines(section: SectionChange) -> Iterator[Line]:
    """The lines of a section, each with its mark: `-`, `+` or a space for what stayed."""
    before = [] if section.before is None else harmless(section.before).split("\n")
    after = [] if section.after is None else harmless(section.after).split("\n")
    return _lines(before, after)


def _lines(before: Sequence[str], after: Sequence[str]) -> Iterator[Line]:
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            yield from _context(before[a:b], at_start=a == 0, at_end=b == len(before))
            continue
        pairs = [_marked(*pair) for pair in zip(before[a:b], after[c:d], strict=False)]
        yield from (("-", old) for old, _ in pairs)
        yield from (("-", Text(line, style="red")) for line in before[a + len(pairs) : b])
        yield from (("+", new) for _, new in pairs)
        yield from (("+", Text(line, style="green")) for line in after[c + len(pairs) : d])


def _context(lines: Sequence[str], *, at_start: bool, at_end: bool) -> Iterator[Line]:
    """A few lines around each change; what lies between is only counted."""
    head = 0 if at_start else _CONTEXT
    tail = 0 if at_end else _CONTEXT
    if len(lines) <= head + tail + 1:
        yield from ((" ", Text(line, style="dim")) for line in lines)
        return
    yield from ((" ", Text(line, style="dim")) for line in lines[:head])
    left = len(lines) - head - tail
    yield " ", Text(f"… {counted(left, 'line')} as before", style="dim italic")
    yield from ((" ", Text(line, style="dim")) for line in lines[len(lines) - tail :])


def _marked(old: str, new: str) -> tuple[Text, Text]:
    """Both lines, with the words that differ set off."""
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    texts = (Text(style="red"), Text(style="green"))
    alike = matcher.ratio() >= _ALIKE
    for kind, a, b, c, d in matcher.get_opcodes():
        set_off = alike and kind != "equal"
        texts[0].append("".join(before[a:b]), style=_STYLES["-"][1] if set_off else None)
        texts[1].append("".join(after[c:d]), style=_STYLES["+"][1] if set_off else None)
    return texts


def _parameter_lines(parameter: ParameterChange) -> Iterator[Line]:
    before = [_as_json(value) for value in parameter.before]
    after = [_as_json(value) for value in parameter.after]
    return _lines(before, after)


def _heading(section: SectionChange) -> str:
    note = " (new)" if section.before is None else " (removed)" if section.after is None else ""
    return f"{section.path}{note}"


def _examples_heading(change: Difference) -> str:
    return f"examples: {len(change.examples_before)} before, {len(change.examples_after)} after"


def _style(mark: str) -> str:
    return _STYLES[mark][0] if mark in _STYLES else "dim"


def _as_json(value: Json) -> str:
    return harmless(json.dumps(value, ensure_ascii=False))
