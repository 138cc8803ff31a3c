"""Inspect's datasets: samples with input, target, choices, id and metadata."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from burnish.integrations.imports.project import ForeignProject
from burnish.integrations.imports.samples import (
    BadSampleError,
    SampleFile,
    leave_unknown,
    read_answers,
    read_input,
    settle_system,
)

KIND = "inspect"
_KNOWN = ("input", "target", "choices", "id", "metadata", "split")
_CHOOSE = "Answer with the letter of the right choice and nothing else."


def read_inspect(path: Path) -> ForeignProject:
    """Samples as rows; with choices the answer is a letter."""
    file = SampleFile(path)
    project = ForeignProject(kind=KIND, name=path.stem)
    for line, record in file.records():
        leave_unknown(record, _KNOWN, path.name, project.findings)
        try:
            row = _row(record)
        except BadSampleError as error:
            file.refuse(line, str(error))
            continue
        (project.rows if row.get("target") else project.unchecked).append(row)
    file.finish(project)
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


def _row(record: Mapping[str, Any]) -> dict[str, Any]:
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
