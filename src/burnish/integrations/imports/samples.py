"""Sample datasets of Inspect and of OpenAI's evals as rows of ours, with their lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from burnish.domain import UsageError
from burnish.domain.wording import counted
from burnish.evaluation.datasets.problems import ProblemKind, RowProblem, empty_dataset
from burnish.evaluation.datasets.rows import RefusedRow, take_apart
from burnish.evaluation.datasets.sources import FileRows
from burnish.integrations.imports.chat import (
    SYSTEM_ROLES,
    NotChatError,
    Turn,
    read_turns,
    role_text,
    spoken_text,
)
from burnish.integrations.imports.files import refuse_rows
from burnish.integrations.imports.project import ForeignProject

_KEPT_PROBLEMS = 100
_INSPECT = "inspect"
_INSPECT_FIELDS = ("input", "target", "choices", "id", "metadata", "split")
_CHOOSE = "Answer with the letter of the right choice and nothing else."
_OPENAI_EVALS = "openai-evals"
_OPENAI_FIELDS = ("input", "ideal", "id", "metadata", "split")
_SHORT = 60


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
    alone = all(turn.role in SYSTEM_ROLES for turn in turns)
    if alone:
        # Many samples say it all as the system: the last text is then what is asked.
        turns = [*turns[:-1], Turn("user", turns[-1].text)]
    text, folded = spoken_text(turns)
    texts = [role_text(turns, role) for role in ("system", "developer")]
    row = {"system": "\n\n".join(one for one in texts if one), "input": text}
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


def settle_system(project: ForeignProject, otherwise: str) -> None:
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
        text = text or otherwise
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
            f"in {counted(len(alone), 'row')} all is said as the system: the last text of it is "
            f"the input"
        )
    if folded:
        project.findings.note(
            f"in {counted(len(folded), 'row')} a chat of several turns is one text in input"
        )


def _read_samples(
    path: Path,
    kind: str,
    known: tuple[str, ...],
    read_row: Callable[[Mapping[str, Any]], dict[str, Any]],
    *,
    answer: str,
) -> ForeignProject:
    """A project with the rows of a file; keys that nothing here stands for are listed."""
    file = SampleFile(path)
    project = ForeignProject(kind=kind, name=path.stem)
    for line, record in file.records():
        project.findings.leave_keys(path.name, record, known)
        try:
            row = read_row(record)
        except BadSampleError as error:
            file.refuse(line, str(error))
            continue
        (project.rows if row.get(answer) else project.unchecked).append(row)
    file.finish(project)
    return project


def read_inspect(path: Path) -> ForeignProject:
    """Samples as rows; with choices the answer is a letter."""
    project = _read_samples(path, _INSPECT, _INSPECT_FIELDS, _inspect_row, answer="target")
    chosen = [row for row in project.rows if "choices" in row]
    if chosen and len(chosen) < len(project.rows):
        project.findings.note("some rows have choices and some have none: check the scorer")
    settle_system(project, _CHOOSE if chosen else "")
    if chosen:
        _add_choices(project)
    else:
        project.scorers = [
            {"kind": "contains", "field": "target", "match": "any", "ignore_case": True}
        ]
    return project


def _inspect_row(record: Mapping[str, Any]) -> dict[str, Any]:
    if record.get("input") in (None, "", []):
        raise BadSampleError("it has no `input`")
    row: dict[str, Any] = {}
    if record.get("id") not in (None, ""):
        row["id"] = record["id"]
    if record.get("split"):
        row["split"] = record["split"]
    row |= read_input(_parsed(record["input"]))
    answers = read_answers(_parsed(record.get("target")), "target")
    choices = _choices(record.get("choices"))
    if choices:
        row["choices"] = "\n".join(
            f"{letter}) {text}" for letter, text in zip(ascii_uppercase, choices, strict=False)
        )
        answers = [_letter(answer, choices) for answer in answers]
    if answers:
        row["target"] = answers[0] if len(answers) == 1 else answers
    metadata = _parsed(record.get("metadata"))
    if metadata not in (None, "", {}):
        row["metadata"] = metadata
    return row


def _parsed(value: Any) -> Any:
    """A cell of a table may hold JSON."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            parsed = json.loads(value)
        except (ValueError, RecursionError):
            return value
        return parsed if isinstance(parsed, (list, dict)) else value
    return value


def _choices(given: Any) -> list[str]:
    given = _parsed(given)
    if given is None or given == "":
        return []
    values = given.split(",") if isinstance(given, str) else given
    if not isinstance(values, list) or any(isinstance(one, (dict, list)) for one in values):
        raise BadSampleError("`choices` is not a list of texts")
    if len(values) > len(ascii_uppercase):
        raise BadSampleError(f"there are more than {len(ascii_uppercase)} choices")
    return [str(one).strip() for one in values]


def _letter(answer: str, choices: list[str]) -> str:
    letters = ascii_uppercase[: len(choices)]
    if len(answer.strip()) == 1 and answer.strip().upper() in letters:
        return answer.strip().upper()
    if answer in choices:
        return letters[choices.index(answer)]
    raise BadSampleError(
        f"the target {answer[:80]!r} is none of the choices {letters[0]} to {letters[-1]}"
    )


def _add_choices(project: ForeignProject) -> None:
    for row in [*project.rows, *project.unchecked]:
        row.setdefault("choices", "")
    project.sections["user"] = "{{input}}\n\n{{choices}}"
    project.scorers = [{"kind": "exact_match", "field": "target"}]
    if any(isinstance(row.get("target"), list) for row in project.rows):
        project.findings.note(
            "some rows have several right choices: any one of them counts as right"
        )
    count = max(row["choices"].count("\n") + 1 for row in project.rows)
    project.labels = tuple(ascii_uppercase[:count])


def read_openai_evals(path: Path) -> ForeignProject:
    """Samples as rows; short answers are compared whole, longer ones are looked for."""
    project = _read_samples(path, _OPENAI_EVALS, _OPENAI_FIELDS, _openai_row, answer="ideal")
    settle_system(project, "")
    answers = [one for row in project.rows for one in _listed(row["ideal"])]
    if all(len(one) <= _SHORT for one in answers):
        project.scorers = [{"kind": "exact_match", "field": "ideal"}]
    else:
        project.scorers = [{"kind": "contains", "field": "ideal", "match": "any"}]
    project.findings.note(
        "which grader an eval uses stands in its registry file, not in its samples: "
        f"{project.scorers[0]['kind']} is a guess"
    )
    return project


def _openai_row(record: Mapping[str, Any]) -> dict[str, Any]:
    if record.get("input") in (None, "", []):
        raise BadSampleError("it has no `input`")
    kept = ("id", "split", "metadata")
    row = {key: record[key] for key in kept if record.get(key) not in (None, "")}
    row |= read_input(record["input"])
    answers = read_answers(record.get("ideal"), "ideal")
    if answers:
        row["ideal"] = answers[0] if len(answers) == 1 else answers
    return row


def _listed(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]
