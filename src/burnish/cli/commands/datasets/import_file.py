"""`burnish import`: another tool's test cases and prompts as a project, or its traces as rows."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from burnish.cli.commands.datasets.trace_rows import (
    STORED,
    import_traces,
    project_suite,
    refuse_trace_options,
    rows_text,
    trace_kind,
)
from burnish.cli.commands.init import require_free, write_files
from burnish.cli.console import Streams
from burnish.cli.options import Config, Db, Json
from burnish.cli.project_location import ProjectLocation
from burnish.cli.running import run
from burnish.cli.wording import harmless, one_line
from burnish.domain.wording import counted
from burnish.evaluation.datasets import Dataset
from burnish.integrations.imports import ForeignProject, Kind, guess_kind, read_foreign
from burnish.integrations.imports.traces import Selection, known_texts
from burnish.integrations.imports.traces.selecting import DEFAULT_PATTERNS, PATTERNS

_LISTED = 20
_ROWS = (".jsonl", ".ndjson")
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+\Z")
_SHORT_SECTION = 80
# Fewer rows than this are better used whole than split in three.
_WORTH_SPLITTING = 12
NO_MODEL = "scripted/echo"
_IGNORED = "# Burnish's results\n.burnish/\n"
_SPLIT = {"train": 0.4, "validation": 0.4, "test": 0.2}


class Source(StrEnum):
    """The tools whose files can be read; the same names as in `burnish.integrations.imports`."""

    PROMPTFOO = "promptfoo"
    INSPECT = "inspect"
    OPENAI_EVALS = "openai-evals"
    OTLP = "otlp"
    OPENINFERENCE = "openinference"
    LANGFUSE = "langfuse"
    OPIK = "opik"


class SampleBy(StrEnum):
    """Ways to draw fewer traces than there are."""

    FIRST = "first"
    RANDOM = "random"
    CLUSTER = "cluster"
    FAILURE = "failure"


class ClusterBy(StrEnum):
    """What texts are likened by."""

    WORDS = "words"
    EMBEDDINGS = "embeddings"


def import_file(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A promptfoo config (YAML, JSON) or its test cases (CSV, YAML, JSON), an Inspect "
            "dataset (JSON, JSONL, CSV), samples of OpenAI's evals (JSONL), or traces (JSON, JSONL, "
            f"CSV, or a folder): OTLP, OpenInference, Langfuse, Opik; {STORED}: what Opik clients sent "
            "to the server here.",
            show_default=False,
        ),
    ],
    *,
    source: Annotated[
        Source | None,
        typer.Option("--from", help="Which tool it is of.", show_default="by its content"),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER|FILE.jsonl",
            help="A folder for a whole project, or a file for the rows alone.",
            show_default="a folder here, called as FILE; for traces a file of rows",
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            help="Traces: only those for which it holds, such as feedback.helpful<0.5, name=answer, "
            "tags~beta or error. Repeatable; all must hold.",
            show_default=False,
        ),
    ] = None,
    label: Annotated[
        str | None,
        typer.Option(
            help="Traces: the feedback that becomes the column label.", show_default=False
        ),
    ] = None,
    redact: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Traces: what is taken out of texts: {', '.join(PATTERNS)}, a regular expression or "
            "none. Repeatable.",
            show_default=", ".join(DEFAULT_PATTERNS),
        ),
    ] = None,
    redact_field: Annotated[
        list[str] | None,
        typer.Option(
            help="Traces: a field that is taken out, by its dotted path.", show_default=False
        ),
    ] = None,
    sample: Annotated[
        int | None, typer.Option(help="Traces: at most so many rows.", show_default="all")
    ] = None,
    sample_by: Annotated[
        SampleBy,
        typer.Option(
            help="Traces: which of them: the first, random ones, one of each cluster, or those "
            "that failed."
        ),
    ] = SampleBy.FIRST,
    cluster_by: Annotated[
        ClusterBy | None,
        typer.Option(
            help="Traces: what --sample-by cluster goes by. Embeddings need the extra `embeddings` and "
            "`burnish models pull all-minilm-l6-v2`.",
            show_default="embeddings where they can be used, else words",
        ),
    ] = None,
    exclude: Annotated[
        list[Path] | None,
        typer.Option(
            help="Traces: a dataset none of whose texts may come in again, such as a test set. "
            "Repeatable; the test split of the project here is always left out.",
            show_default=False,
        ),
    ] = None,
    append: Annotated[
        bool, typer.Option("--append", help="Traces: add new rows to a file that exists.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Make a project of another tool's test cases, or a dataset of traces.

    Nothing is called and no code of the file is run: what would need that is listed.
    """
    streams: Streams = context.obj
    location = ProjectLocation.of(context, config, db)
    traces = trace_kind(file, None if source is None else source.value)
    if traces is not None:
        suite = run(project_suite(location))
        selection = Selection(
            where=where or (),
            redact=() if redact == ["none"] else redact or DEFAULT_PATTERNS,
            redact_fields=redact_field or (),
            label=label,
            sample=sample,
            sample_by=sample_by.value,
            cluster_by=None if cluster_by is None else cluster_by.value,
            exclude=known_texts(exclude or (), suite),
        )
        target = output or Path(f"{file_name(file.stem)}.jsonl")
        import_traces(
            streams,
            location,
            file,
            traces,
            selection,
            target,
            append=append,
            force=force,
            suite=suite,
        )
        return
    refuse_trace_options(
        *(where, label, redact, redact_field, sample, cluster_by, exclude, append or None)
    )
    kind = guess_kind(file) if source is None else Kind(source.value)
    project = read_foreign(file, kind)
    Dataset.of(project.rows).index()
    rows_only = output is not None and output.suffix.lower() in _ROWS
    if output is not None and rows_only:
        folder, files = output.parent, {output.name: _all_rows(project)}
    else:
        folder = output or Path(file_name(file.stem))
        files = project_files(project, file.name)
    require_free(folder, files, force=force, other="another place with --output")
    write_files(folder, files)
    if streams.json_output:
        streams.print_document(_document(project, folder, files, guessed=source is None))
    else:
        _tell(streams, project, folder, files, guessed=source is None)


def _all_rows(project: ForeignProject) -> bytes:
    return rows_text([*project.rows, *project.unchecked]).encode("utf-8", "replace")


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
    streams: Streams,
    project: ForeignProject,
    folder: Path,
    files: dict[str, bytes],
    *,
    guessed: bool,
) -> None:
    findings = project.findings
    by_content = " (by its content)" if guessed else ""
    streams.say(
        f"{project.kind}{by_content}: {counted(len(project.rows), 'row')}",
        harmless(f"made {', '.join(files)} in {folder}"),
    )
    if project.unchecked:
        there = counted(len(project.unchecked), "row")
        streams.say(f"! {there} that nothing here can grade: data/unchecked.jsonl")
    streams.say(*(f"- {one_line(note, 300)}" for note in findings.notes))
    for one in findings.not_taken[:_LISTED]:
        streams.say(f"! not taken: {one_line(str(one), 300)}")
    more = len(findings.not_taken) + findings.unlisted - _LISTED
    if more > 0:
        streams.say(f"! and {more} more")
    if "burnish.toml" in files:
        streams.say("", "next:", *_next_steps(project, folder))


def _next_steps(project: ForeignProject, folder: Path) -> list[str]:
    steps = [f"  cd {shlex.quote(str(folder))}"]
    if project.model is None:
        steps.append(f"  name your model in burnish.toml: {NO_MODEL} only repeats its input")
    return [*steps, "  burnish validate", "  burnish eval"]


def project_files(project: ForeignProject, source: str) -> dict[str, bytes]:
    """Every file of the project by its path below the folder."""
    name = file_name(project.name)
    files = {f"data/{name}.jsonl": rows_text(project.rows)}
    if project.unchecked:
        files["data/unchecked.jsonl"] = rows_text(project.unchecked)
    for path, text in project.sections.items():
        if not _is_short(text):
            files[f"prompts/{path}.md"] = f"{text}\n"
    for other, text in project.others.items():
        files[f"prompts/{other}"] = text
    files["burnish.toml"] = _settings_text(project, source, name)
    files["IMPORTED.md"] = _told(project, source)
    files[".gitignore"] = _IGNORED
    return {path: text.encode("utf-8", "replace") for path, text in files.items()}


def file_name(name: str) -> str:
    """A name that is fit for a file on every system."""
    return _NOT_A_NAME.sub("-", name).strip("-")[:60] or "imported"


def toml_value(value: Any) -> str:
    """A value as TOML writes it, tables inline."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # JSON's escapes are TOML's; only this one is not needed there and is here.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, (int, float)):
        return json.dumps(value)
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{_key(key)} = {toml_value(inner)}" for key, inner in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    return f"[{', '.join(map(toml_value, value))}]"


def _settings_text(project: ForeignProject, source: str, name: str) -> str:
    lines = [
        f"# From {one_line(source, 200)} ({project.kind}) by `burnish import`; see IMPORTED.md.",
        "[agent]",
        f"name = {toml_value(name)}",
        f"model = {toml_value(project.model or NO_MODEL)}",
    ]
    if project.model is None:
        lines[-1] += "  # it repeats its input: name yours, such as openai/gpt-4o-mini"
    if project.labels:
        lines.append(f"labels = {toml_value(project.labels)}")
    lines += ["", "[agent.sections]"]
    for path, text in project.sections.items():
        shown = text if _is_short(text) else {"file": f"prompts/{path}.md"}
        lines.append(f"{_key(path)} = {toml_value(shown)}")
    if project.parameters:
        lines += ["", "[agent.parameters]"]
        lines += [f"{_key(key)} = {toml_value(one)}" for key, one in project.parameters.items()]
    lines += ["", "[suite]", f"dataset = {toml_value(f'data/{name}.jsonl')}"]
    lines.append(f"scorers = {toml_value(project.scorers)}")
    if any("split" in row for row in project.rows):
        lines.append('# split = "field"  # where rows name their own')
    if len(project.rows) >= _WORTH_SPLITTING:
        lines.append(f"split = {toml_value(_SPLIT)}")
    if project.pass_threshold is not None:
        lines.append(
            f"# Each row's own threshold decides.\npass_threshold = {project.pass_threshold}"
        )
    lines += ["", "[budget]", "max_trials = 20", ""]
    return "\n".join(lines)


def _told(project: ForeignProject, source: str) -> str:
    findings = project.findings
    lines = [f"# Imported from {one_line(source, 200)} ({project.kind})", ""]
    lines.append(f"{counted(len(project.rows), 'row')} in data/.")
    if project.unchecked:
        there = counted(len(project.unchecked), "row")
        lines.append(f"{there} that nothing here can grade in data/unchecked.jsonl.")
    lines += ["", "## Notes", ""]
    lines += [f"- {one_line(note, 400)}" for note in findings.notes] or ["None."]
    lines += ["", "## Not taken", ""]
    lines += [f"- {one_line(str(one), 400)}" for one in findings.not_taken] or ["Nothing."]
    if findings.unlisted:
        lines.append(f"- and {findings.unlisted} more")
    return "\n".join([*lines, ""])


def _is_short(text: str) -> bool:
    return len(text) <= _SHORT_SECTION and "\n" not in text


def _key(key: str) -> str:
    return key if _BARE_KEY.match(key) else toml_value(key)
