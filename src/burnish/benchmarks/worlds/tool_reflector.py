"""Reflection model of the tool world: reads complaints in any prompt and writes a text about them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .draws import draw, pick, shuffled
from .tools import TOOLS, of_prompt

if TYPE_CHECKING:
    from .tools import ToolWorld

_FENCE = re.compile(r"```[^\n`]*\n(.*?)\n?[ \t]*```", re.DOTALL)
_SECTION = re.compile(r"section `([\w.-]+)`")
_ENUM = re.compile(r"Step \d+: (\w+) was called with (\w+)=\w+; for (\w+) it is (\w+)\.")
_CONFUSED = re.compile(r"Step \d+: (\w+) was called for (\w+); it is (\w+)\.")
_OMITTED = re.compile(r"Step \d+: (\w+) was called without (\w+), which must be given\.")
_EARLY = re.compile(r"Step \d+: (\w+) was called before (\w+), which comes first\.")
# How often it writes what is right, and what is wrong; else it writes something vague.
RIGHT, WRONG = 0.65, 0.15
_CAPACITY, _ELSEWHERE, _MEND, _LOSE = 2, 0.3, 0.7, 0.05
_VAGUE = ("Be careful with {tool}.", "Think before you call {tool}.", "Mind the details of {tool}.")
_LINES = {
    "enum": (
        "For {word} give {value} as {field} of {tool}.",
        "{word} means {field} {value} in {tool}.",
    ),
    "confusion": ("For {word} matters call {value}.", "Call {value} whenever it is about {word}."),
    "omission": ("Always give {field} to {tool}.", "{tool} must be given {field}."),
    "order": ("Call {value} first, then {tool}.", "First call {value}, and {tool} after it."),
}
_WRONG_LINES = {
    "omission": "Never give {field} to {tool}.",
    "order": "Call {tool} first, then {value}.",
}


class ToolReflector:
    """Answers one prompt; every draw is hashed from the prompt and the world's seed."""

    def __init__(self, world: ToolWorld) -> None:
        self._world = world
        self._key = ""

    def answer(self, prompt: str) -> str:
        """Some words, and the new text in a fence."""
        self._key = f"{self._world.key}:{of_prompt(prompt)}"
        found = _FENCE.search(prompt)
        current = found.group(1) if found else ""
        section = self._section(prompt, current)
        lines = [line for line in current.splitlines() if draw(self._key, "lose", line) >= _LOSE]
        for facts in self._chosen(prompt, section, "\n".join(lines)):
            lines = self._written(lines, facts)
        return "The calls show what the texts do not say.\n\n```\n" + "\n".join(lines) + "\n```"

    def _section(self, prompt: str, current: str) -> str | None:
        """Which section it writes: as the prompt says, or the only one that ever had that text."""
        if named := _SECTION.search(prompt):
            return named.group(1)
        known = {
            path
            for tried in [tuple(self._world.sections.items()), *self._world.tried]
            for path, text in tried
            if text.strip() == current.strip()
        }
        return known.pop() if len(known) == 1 else None

    def _chosen(self, prompt: str, section: str | None, current: str) -> list[dict[str, str]]:
        """The complaints that it acts upon: those that fit the section, as many as it can hold."""
        fitting, seen = [], set()
        for facts in shuffled(_complaints(prompt), self._key, "complaints"):
            name = f"{facts['kind']}:{facts['tool']}:{facts['value']}:{facts['word']}"
            if name in seen or any(
                line.format(**facts) in current for line in _LINES[facts["kind"]]
            ):
                continue
            seen.add(name)
            foreign = section not in (None, "system") and section not in _homes(facts)
            if not foreign or draw(self._key, "foreign", name) < _ELSEWHERE:
                fitting.append(facts)
        return fitting[:_CAPACITY]

    def _written(self, lines: list[str], facts: dict[str, str]) -> list[str]:
        place = draw(self._key, "outcome", *facts.values())
        if place < RIGHT:
            if draw(self._key, "mend", *facts.values()) < _MEND:
                wrong = self._wrong_lines(facts)
                lines = [line for line in lines if line not in wrong]
            return [*lines, pick(_LINES[facts["kind"]], self._key, "line").format(**facts)]
        if place < RIGHT + WRONG:
            return [*lines, pick(self._wrong_lines(facts), self._key, "wrong", *facts.values())]
        return [*lines, pick(_VAGUE, self._key, "vague").format(**facts)]

    @staticmethod
    def _wrong_lines(facts: dict[str, str]) -> list[str]:
        kind = facts["kind"]
        if kind == "enum":
            codes = TOOLS[facts["tool"]][1][facts["field"]]
            return [
                line.format(**{**facts, "value": code})
                for code in codes
                if code != facts["value"]
                for line in _LINES[kind]
            ]
        if kind == "confusion":
            return [line.format(**{**facts, "value": facts["tool"]}) for line in _LINES[kind]]
        return [_WRONG_LINES[kind].format(**facts)]


def _complaints(prompt: str) -> list[dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for tool, field, word, value in _ENUM.findall(prompt):
        found[f"{tool} {word}"] = _facts("enum", tool, value, word, field)
    for tool, word, value in _CONFUSED.findall(prompt):
        found[f"{tool} {word}"] = _facts("confusion", tool, value, word, "")
    for tool, field in _OMITTED.findall(prompt):
        found[f"{tool} {field}"] = _facts("omission", tool, field, "", field)
    for tool, first in _EARLY.findall(prompt):
        found[f"{tool} {first}"] = _facts("order", tool, first, "", "")
    return list(found.values())


def _facts(kind: str, tool: str, value: str, word: str, field: str) -> dict[str, str]:
    return {"kind": kind, "tool": tool, "value": value, "word": word, "field": field}


def _homes(facts: dict[str, str]) -> set[str]:
    own = {f"tools.{facts['tool']}.description"}
    if facts["field"]:
        own.add(f"tools.{facts['tool']}.parameters.{facts['field']}")
    if facts["kind"] in ("confusion", "order"):
        own.add(f"tools.{facts['value']}.description")
    return own
