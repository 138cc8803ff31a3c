"""Forms of knowledge in a prompt: how rules are written in each, and what of a text counts."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from .spec import ADVICE, CODES, CUES, FILLERS

Facts = dict[str, list[str]]
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")
_NOTE = re.compile(r"\bCase (\d{5})\b.*?\bfor the ([a-z]+) use ([a-z]+-[a-z]+)")
_GENERAL = re.compile(r"\b(?:everything|anything) else\b.*?\b([a-z]+-[a-z]+)\b", re.IGNORECASE)
_EXAMPLE = re.compile(r"^```example\n(.*?)\n```$", re.DOTALL | re.MULTILINE)
_WIDTH = 72


@dataclass
class Knowledge:
    """What a text says: codes by cue, notes on single items, codes for the rest, advice, fillers."""

    facts: Facts = field(default_factory=dict)
    notes: dict[tuple[str, str], str] = field(default_factory=dict)
    general: list[str] = field(default_factory=list)
    advice: list[str] = field(default_factory=list)
    fillers: list[str] = field(default_factory=list)


def words_in(text: str) -> list[str]:
    """The words of a text in their order, in small letters."""
    return _WORD.findall(text.lower())


def read(text: str, form: str) -> Knowledge:
    """All that counts in a text if rules have to stand in a form."""
    found = Knowledge()
    rest = []
    for line in text.split("\n"):
        note, general = _beside_rules(line)
        if note:
            found.notes[note[0], note[1]] = note[2]
        elif general:
            found.general.append(general)
        else:
            rest.append(line)
            continue
        rest.append("")
    words = set(words_in(text))
    found.advice = [marker for marker in ADVICE if marker in words]
    found.fillers = [line for line in FILLERS if line in text]
    for cue, code in READERS[form]("\n".join(rest)):
        known = found.facts.setdefault(cue, [])
        if code not in known:
            known.append(code)
    return found


# Texts of a search have most of their lines in common.
@lru_cache(maxsize=4_096)
def _beside_rules(line: str) -> tuple[tuple[str, ...], str]:
    """The number, cue and code of a note on one item, or else the code for everything else."""
    if note := _NOTE.search(line):
        return note.groups(), ""
    general = _GENERAL.search(line)
    return (), general.group(1) if general and general.group(1) in CODES else ""


@lru_cache(maxsize=4_096)
def _named(line: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    words = words_in(line)
    return tuple(one for one in words if one in CUES), tuple(one for one in words if one in CODES)


def _read_lines(text: str) -> Iterator[tuple[str, str]]:
    """A line with one code is a rule for the cues in it."""
    for line in text.split("\n"):
        cues, codes = _named(line)
        if len(set(codes)) == 1:
            yield from ((cue, codes[0]) for cue in cues)


def _read_headings(text: str) -> Iterator[tuple[str, str]]:
    """A bullet counts below a heading that names the code; any other line ends the heading's reach."""
    code = None
    for line in text.split("\n"):
        cues, codes = _named(line)
        if re.match(r"#{1,6}\s", line):
            code = codes[0] if len(codes) == 1 else None
        elif re.match(r"[-*]\s", line) and code:
            yield from ((cue, code) for cue in cues)
        elif line.strip():
            code = None


def _read_table(text: str) -> Iterator[tuple[str, str]]:
    """Rows count below a header with its rule line, as far as the table goes without a gap."""
    rows: list[str] = []
    for line in [*text.split("\n"), ""]:
        if line.startswith("|") and line.rstrip().endswith("|"):
            rows.append(line)
            continue
        if len(rows) > 2 and re.fullmatch(r"\|(?:\s*:?-{2,}:?\s*\|)+\s*", rows[1]):
            yield from _read_lines("\n".join(rows[2:]))
        rows = []


def _read_prose(text: str) -> Iterator[tuple[str, str]]:
    """In a paragraph, a cue belongs to the code that was named last before it."""
    for paragraph in re.split(r"\n\s*\n", text):
        code = None
        for word in words_in(paragraph):
            if word in CODES:
                code = word
            elif word in CUES and code:
                yield word, code


def _read_json(text: str) -> Iterator[tuple[str, str]]:
    """Objects count that can be parsed, codes by cue or lists of cues by code."""
    start = text.find("{")
    while start >= 0:
        try:
            value, length = json.JSONDecoder().raw_decode(text[start:])
        except ValueError:
            length = 1
        else:
            yield from _pairs(value)
        start = text.find("{", start + length)


def _pairs(value: Any) -> Iterator[tuple[str, str]]:
    for key, one in value.items() if isinstance(value, dict) else ():
        if isinstance(one, dict):
            yield from _pairs(one)
        elif key in CUES and one in CODES:
            yield key, one
        elif key in CODES and isinstance(one, list):
            yield from ((cue, key) for cue in one if cue in CUES)


def _read_examples(text: str) -> Iterator[tuple[str, str]]:
    """A fenced example teaches the cues of its input, if its output follows within the fence."""
    for match in _EXAMPLE.finditer(text):
        shown: list[str] = []
        for line in match.group(1).split("\n"):
            cues, codes = _named(line)
            if len(codes) == 1 and shown:
                yield from ((cue, codes[0]) for cue in shown)
                shown = []
            else:
                shown += cues


READERS: Mapping[str, Callable[[str], Iterable[tuple[str, str]]]] = {
    "lines": _read_lines,
    "headings": _read_headings,
    "table": _read_table,
    "prose": _read_prose,
    "json": _read_json,
    "examples": _read_examples,
}


def write(opening: str, known: Knowledge, form: str, variant: int) -> str:
    """A text of an opening and some knowledge; variants say the same in other words."""
    lines = [opening, *known.fillers]
    lines += [ADVICE[marker][variant % 2] for marker in known.advice]
    lines += [_ELSE[variant % 2].format(code) for code in known.general]
    lines += [f"Case {ref}: for the {cue} use {code}." for (ref, cue), code in known.notes.items()]
    facts = [(cue, code) for cue, codes in known.facts.items() for code in codes]
    if not facts:
        return "\n".join(lines)
    parts = ["\n".join(lines), _INTRODUCTIONS[variant % 2], WRITERS[form](facts, variant)]
    return "\n\n".join(parts)


_ELSE = ("Everything else gets {}.", "The code for anything else is {}.")
_INTRODUCTIONS = ("What is known so far:", "Go by this:")
_RULES = ("For the {0} say {1}.", "- {0}: {1}", "Whoever asks about a {0} gets {1}.", "{0} → {1}")
_BULLETS = ("- {}", "* the {} or anything like it", "- messages about a {}", "- mentions of the {}")
_BELONG = (
    "The {} belongs there.",
    "It is right for the {}.",
    "So it is with the {}.",
    "Take it for the {}.",
)


def _by_code(facts: list[tuple[str, str]]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for cue, code in facts:
        groups.setdefault(code, []).append(cue)
    return groups


def _write_headings(facts: list[tuple[str, str]], variant: int) -> str:
    blocks = [
        "\n".join([f"{'#' * (2 + variant % 2)} {code}", *map(_BULLETS[variant].format, cues)])
        for code, cues in _by_code(facts).items()
    ]
    return "\n\n".join(blocks)


def _write_table(facts: list[tuple[str, str]], variant: int) -> str:
    heads = (
        "| thing | code |",
        "| mention | answer |",
        "| if about | then |",
        "| word | what to say |",
    )
    return "\n".join(
        [heads[variant], "| --- | --- |", *(f"| {cue} | {code} |" for cue, code in facts)]
    )


def _write_prose(facts: list[tuple[str, str]], variant: int) -> str:
    paragraphs = []
    for code, cues in _by_code(facts).items():
        said = " ".join(_BELONG[variant].format(cue) for cue in cues)
        paragraphs.append(f"A word on {code}, which is easily missed. {said}")
    return "\n\n".join(textwrap.fill(one, _WIDTH, break_on_hyphens=False) for one in paragraphs)


def _write_json(facts: list[tuple[str, str]], variant: int) -> str:
    groups = _by_code(facts)
    value: dict[str, Any] = groups if variant % 2 else dict(facts)
    return json.dumps({"codes": value} if variant > 1 else value, indent=2)


def _write_examples(facts: list[tuple[str, str]], variant: int) -> str:
    inputs = (
        "Input: a message about the {}",
        "They write: my {} …",
        "Q: the {}?",
        "In: {} and so on",
    )
    outputs = ("Output: {}", "We say: {}", "A: {}", "Out: {}")
    return "\n".join(
        f"```example\n{inputs[variant].format(cue)}\n{outputs[variant].format(code)}\n```"
        for cue, code in facts
    )


WRITERS: Mapping[str, Callable[[list[tuple[str, str]], int], str]] = {
    "lines": lambda facts, variant: "\n".join(_RULES[variant].format(*one) for one in facts),
    "headings": _write_headings,
    "table": _write_table,
    "prose": _write_prose,
    "json": _write_json,
    "examples": _write_examples,
}
