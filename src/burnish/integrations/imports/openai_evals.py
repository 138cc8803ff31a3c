"""OpenAI's evals: a line has the chat as input, and the ideal answer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
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

KIND = "openai-evals"
_KNOWN = ("input", "ideal", "id", "metadata", "split")
_SHORT = 60


def read_openai_evals(path: Path) -> ForeignProject:
    """Samples as rows; short answers are compared whole, longer ones are looked for."""
    file = SampleFile(path)
    project = ForeignProject(kind=KIND, name=path.stem)
    for line, record in file.records():
        leave_unknown(record, _KNOWN, path.name, project.findings)
        try:
            row = _row(record)
        except BadSampleError as error:
            file.refuse(line, str(error))
            continue
        (project.rows if row.get("ideal") else project.unchecked).append(row)
    file.finish(project)
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


def _row(record: Mapping[str, Any]) -> dict[str, Any]:
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
