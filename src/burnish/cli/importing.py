"""Another tool's file read, written as a project, and told about."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from burnish.cli.commands.init import write_files
from burnish.cli.console import Session
from burnish.cli.imported_files import NO_MODEL, file_name, project_files, rows_text
from burnish.cli.wording import count, harmless, one_line
from burnish.domain import ConflictError
from burnish.evaluation.datasets import Dataset
from burnish.integrations.imports import ForeignProject, Kind, guess_kind, read_foreign

_LISTED = 20
_ROWS = (".jsonl", ".ndjson")


def import_project(
    session: Session, file: Path, source: str | None, output: Path | None, *, force: bool
) -> None:
    """Read the file, write what it comes to, and say what was left."""
    kind = guess_kind(file) if source is None else Kind(source)
    project = read_foreign(file, kind)
    Dataset.of(project.rows).index()
    rows_only = output is not None and output.suffix.lower() in _ROWS
    if output is not None and rows_only:
        folder, files = output.parent, {output.name: _all_rows(project)}
    else:
        folder = output or Path(file_name(file.stem))
        files = project_files(project, file.name)
    _require_free(folder, files, force=force)
    write_files(folder, files)
    if session.json_output:
        session.print_document(_document(project, folder, files, guessed=source is None))
    else:
        _tell(session, project, folder, files, guessed=source is None)


def _all_rows(project: ForeignProject) -> bytes:
    return rows_text([*project.rows, *project.unchecked]).encode("utf-8", "replace")


def _require_free(folder: Path, files: dict[str, bytes], *, force: bool) -> None:
    existing = [name for name in files if (folder / name).exists()]
    if existing and not force:
        raise ConflictError(
            what=f"{folder.absolute()} is not empty enough",
            why=f"these exist: {', '.join(existing)}",
            fix="name another place with --output, or overwrite them with --force",
            code="files_exist",
        )


def _document(
    project: ForeignProject, folder: Path, files: dict[str, bytes], *, guessed: bool
) -> dict[str, Any]:
    findings = project.findings
    return {
        "kind": project.kind,
        "guessed": guessed,
        "folder": str(folder.absolute()),
        "files": list(files),
        "rows": len(project.rows),
        "unchecked": len(project.unchecked),
        "model": project.model,
        "sections": list(project.sections),
        "scorers": project.scorers,
        "notes": findings.notes,
        "not_taken": [
            {"place": one.place, "what": one.what, "why": one.why} for one in findings.not_taken
        ],
        "not_taken_unlisted": findings.unlisted,
    }


def _tell(
    session: Session,
    project: ForeignProject,
    folder: Path,
    files: dict[str, bytes],
    *,
    guessed: bool,
) -> None:
    findings = project.findings
    by_content = " (by its content)" if guessed else ""
    session.say(
        f"{project.kind}{by_content}: {count(len(project.rows), 'row')}",
        harmless(f"made {', '.join(files)} in {folder}"),
    )
    if project.unchecked:
        there = count(len(project.unchecked), "row")
        session.say(f"! {there} that nothing here can grade: data/unchecked.jsonl")
    session.say(*(f"- {one_line(note, 300)}" for note in findings.notes))
    for one in findings.not_taken[:_LISTED]:
        session.say(f"! not taken: {one_line(str(one), 300)}")
    more = len(findings.not_taken) + findings.unlisted - _LISTED
    if more > 0:
        session.say(f"! and {more} more")
    if "burnish.toml" in files:
        session.say("", "next:", *_next_steps(project, folder))


def _next_steps(project: ForeignProject, folder: Path) -> list[str]:
    steps = [f"  cd {shlex.quote(str(folder))}"]
    if project.model is None:
        steps.append(f"  name your model in burnish.toml: {NO_MODEL} only repeats its input")
    return [*steps, "  burnish validate", "  burnish eval"]
