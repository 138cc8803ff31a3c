"""An imported project as files: rows, prompts, `burnish.toml`, and what was not taken."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from burnish.cli.wording import count, one_line
from burnish.integrations.imports import ForeignProject

_NOT_A_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+\Z")
_SHORT_SECTION = 80
# Fewer rows than this are better used whole than split in three.
_WORTH_SPLITTING = 12
NO_MODEL = "scripted/echo"
_IGNORED = "# Burnish's results\n.burnish/\n"
_SPLIT = {"train": 0.4, "validation": 0.4, "test": 0.2}


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


def rows_text(rows: Iterable[Mapping[str, Any]]) -> str:
    """JSON Lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


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
    lines.append(f"{count(len(project.rows), 'row')} in data/.")
    if project.unchecked:
        there = count(len(project.unchecked), "row")
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
