"""Rows of other tools' datasets, one record at a time, with their lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from burnish.domain import UsageError
from burnish.evaluation.datasets.problems import ProblemKind, RowProblem, empty_dataset
from burnish.evaluation.datasets.rows import RefusedRow, take_apart
from burnish.evaluation.datasets.sources import FileRows
from burnish.integrations.imports.chat import (
    STANDING,
    NotChatError,
    Turn,
    read_turns,
    spoken_text,
    standing_text,
)
from burnish.integrations.imports.files import refuse_rows
from burnish.integrations.imports.project import Findings, ForeignProject

_KEPT_PROBLEMS = 100


class BadSampleError(ValueError):
    """A record that cannot become a row; the message says why."""


class SampleFile:
    """Reads records; what is wrong with them is collected and raised in the end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: list[RowProblem] = []
        self._ids: dict[str, int] = {}

    def records(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Each record that is an object, with its line."""
        for row in FileRows(self.path).read():
            if isinstance(row, RowProblem):
                self._add(row)
            elif not isinstance(row.value, Mapping):
                self.refuse(row.line, "the row is not an object")
            elif row.value and self._has_own_id(row.line, row.value):
                yield row.line, row.value

    def refuse(self, line: int, message: str) -> None:
        """A record that cannot be used."""
        self._add(RowProblem.at(self.path, line, None, ProblemKind.WRONG_SHAPE, message))

    def finish(self, project: ForeignProject) -> None:
        """Raise for what was wrong, or for having found nothing."""
        refuse_rows(self.path, self.problems)
        if not project.rows:
            if not project.unchecked:
                raise empty_dataset(str(self.path), 0)
            raise UsageError(
                what=f"{self.path} cannot be imported",
                why="no row says what a right answer is",
                fix="add target (Inspect) or ideal (OpenAI evals), or use the file as a dataset",
                code="empty_dataset",
            )

    def _has_own_id(self, line: int, record: Mapping[str, Any]) -> bool:
        try:
            own = take_apart(record).id
        except RefusedRow as refused:
            self.refuse(line, refused.message)
            return False
        first = line if own is None else self._ids.setdefault(own, line)
        if first != line:
            message = f"the id {own!r} is taken by line {first}"
            self._add(RowProblem.at(self.path, line, None, ProblemKind.DUPLICATE_ID, message))
        return first == line

    def _add(self, problem: RowProblem) -> None:
        if len(self.problems) < _KEPT_PROBLEMS:
            self.problems.append(problem)


def read_input(given: Any) -> dict[str, str]:
    """`input` as text, and `system` where it is a chat that has one."""
    if isinstance(given, str):
        return {"input": given}
    if isinstance(given, (int, float)) and not isinstance(given, bool):
        return {"input": json.dumps(given)}
    try:
        turns = read_turns(given)
    except NotChatError as error:
        raise BadSampleError(f"`input` is neither text nor a chat: {error}") from error
    alone = all(turn.role in STANDING for turn in turns)
    if alone:
        # Many samples say it all as the system: the last text is then what is asked.
        turns = [*turns[:-1], Turn("user", turns[-1].text)]
    text, folded = spoken_text(turns)
    standing = [standing_text(turns, role) for role in ("system", "developer")]
    row = {"system": "\n\n".join(one for one in standing if one), "input": text}
    marks = {"_folded": folded, "_alone": alone}
    return row | {name: "yes" for name, is_so in marks.items() if is_so}


def read_answers(given: Any, name: str) -> list[str]:
    """Right answers as texts; none where nothing is given."""
    values = given if isinstance(given, list) else [given]
    answers = []
    for value in values:
        if isinstance(value, (Mapping, list)):
            raise BadSampleError(f"`{name}` is neither text nor a list of texts")
        if value is not None and str(value) != "":
            text = json.dumps(value) if isinstance(value, (bool, int, float)) else str(value)
            answers.append(text)
    return answers


def settle_system(project: ForeignProject, standing: str) -> None:
    """A system text that all rows share becomes a section; others stay in the rows."""
    rows = [*project.rows, *project.unchecked]
    folded = [row for row in rows if row.pop("_folded", None)]
    alone = [row for row in rows if row.pop("_alone", None)]
    texts = {row.get("system", "") for row in rows}
    sections = {"user": "{{input}}"}
    if len(texts) == 1:
        (text,) = texts
        for row in rows:
            row.pop("system", None)
        text = text or standing
        if "{{" in text:
            project.findings.note("{{…}} in the system text is filled from the rows")
        sections = {**({"system": text} if text else {}), **sections}
    else:
        for row in rows:
            row.setdefault("system", "")
        sections = {"system": "{{system}}", **sections}
        project.findings.note("rows have different system texts: they stay in the field system")
    project.sections = sections
    if alone:
        project.findings.note(
            f"in {len(alone)} rows all is said as the system: the last text of it is the input"
        )
    if folded:
        project.findings.note(f"in {len(folded)} rows a chat of several turns is one text in input")


def leave_unknown(
    record: Mapping[str, Any], known: tuple[str, ...], place: str, findings: Findings
) -> None:
    """List keys that nothing here stands for."""
    for key in record:
        if key not in known:
            findings.leave(place, f"the key {str(key)[:80]}", "nothing here stands for it")
