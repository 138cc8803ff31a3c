"""Foreign project: what was read out of another tool's file, and what was not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from burnish.domain import UsageError

# A file of rubbish must not fill the memory with complaints about it.
_MOST_FINDINGS = 1000
_TEST_PLACES = ("test", "scenario")
_LISTED = 3


@dataclass(frozen=True, slots=True)
class NotTaken:
    """Something that was left behind: where it stands, what it is, and why."""

    place: str
    what: str
    why: str

    def __str__(self) -> str:
        return f"{self.place}: {self.what} ({self.why})"


class Findings:
    """Collects what people should know about an import."""

    def __init__(self) -> None:
        self.not_taken: list[NotTaken] = []
        self.notes: list[str] = []
        self.unlisted = 0
        self._known: set[NotTaken] = set()

    def leave(self, place: str, what: str, why: str) -> None:
        """Something is not taken."""
        found = NotTaken(place, what, why)
        if found in self._known:
            return
        if len(self.not_taken) < _MOST_FINDINGS:
            self._known.add(found)
            self.not_taken.append(found)
        else:
            self.unlisted += 1

    def leave_keys(self, place: str, given: Iterable[object], known: Collection[str]) -> None:
        """Keys that nothing here stands for are not taken."""
        for key in given:
            if key not in known:
                self.leave(place, f"the key {str(key)[:80]}", "nothing here stands for it")

    def note(self, text: str) -> None:
        """Something was decided, or is left to decide."""
        if text not in self.notes and len(self.notes) < _MOST_FINDINGS:
            self.notes.append(text)


@dataclass(kw_only=True)
class ForeignProject:
    """Rows, prompt and scorers, ready to be written as a project.

    `unchecked` are rows that nothing of ours can grade. `others` are prompts besides the first, by
    file name. Without a `model` the file named none that Burnish can call.
    """

    kind: str
    name: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    unchecked: list[dict[str, Any]] = field(default_factory=list)
    sections: dict[str, str] = field(default_factory=dict)
    others: dict[str, str] = field(default_factory=dict)
    model: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    scorers: list[dict[str, Any]] = field(default_factory=list)
    pass_threshold: float | None = None
    findings: Findings = field(default_factory=Findings)


def no_tests(source: Path, findings: Findings) -> UsageError:
    """The error for a config that brings no test case along; it names those that were left."""
    left = [one for one in findings.not_taken if one.place.startswith(_TEST_PLACES)]
    listed = "; ".join(map(str, left[:_LISTED]))
    more = f"; and {len(left) - _LISTED} more" if len(left) > _LISTED else ""
    return UsageError(
        what=f"{source} cannot be imported",
        why="it has no test cases that can be taken" + (f": {listed}{more}" if listed else ""),
        fix="put that file there, or write the test cases as CSV, JSONL or YAML beside it and name "
        "it in `tests`"
        if left
        else "add `tests` to it, or name the file that holds them",
        code="empty_dataset",
    )
