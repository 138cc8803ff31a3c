"""Winning candidate as a document, a page of text, a Python module or a Git patch."""

from __future__ import annotations

import difflib
import json
import pprint
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from burnish.app.agents.project_files import FileWrite, plan_writes
from burnish.app.agents.promotion import Promotion, prepare_promotion
from burnish.app.optimize.run_spec import project_file
from burnish.app.references import BASELINE, find_candidate
from burnish.app.wiring import Workspace
from burnish.cli.exports.formats import Format
from burnish.cli.project_location import ProjectLocation
from burnish.domain import Configuration, OptimizationRecord, UsageError
from burnish.domain.wording import p_relation

_FENCE = re.compile(r"^\s*(`{3,})", re.MULTILINE)
_WIDTH = 100
_NO_NEWLINE = "\n\\ No newline at end of file\n"


def winner_document(found: Promotion) -> dict[str, Any]:
    """What it is, where it comes from and what speaks for it."""
    return {
        "agent": found.record.agent_name,
        "optimization_id": found.record.id,
        "candidate_id": found.candidate.id,
        "number": found.candidate.number,
        "rationale": found.candidate.rationale,
        "score": found.score,
        "baseline_score": found.baseline_score,
        "evidence": None if found.evidence is None else dict(found.evidence),
        "doubts": list(found.doubts),
        "labels": labels_of(found.record),
        "test": (found.record.result or {}).get("test") if found.evidence is not None else None,
        "configuration": found.candidate.configuration.to_json(),
        "configuration_hash": found.candidate.configuration.hash,
    }


def winner_json(found: Promotion) -> str:
    """The document, readable."""
    return json.dumps(winner_document(found), indent=2, ensure_ascii=False) + "\n"


def winner_markdown(found: Promotion) -> str:
    """A page for a wiki or a pull request; every text stands in a fence that it cannot close."""
    lines = [f"# {_one_line(found.record.agent_name)}", "", *_facts(found)]
    configuration = found.candidate.configuration
    for path, text in configuration.sections.items():
        lines += ["", f"## {_one_line(path)}", "", *_fenced(text, "text")]
    if configuration.parameters:
        lines += ["", "## Parameters", "", *_fenced(_json(configuration.parameters), "json")]
    if configuration.examples:
        lines += ["", "## Examples", ""]
        lines += _fenced(_json([dict(one) for one in configuration.examples]), "json")
    return "\n".join(lines) + "\n"


def winner_python(found: Promotion) -> str:
    """A module of plain literals, which `burnish.Agent(configuration=CONFIGURATION)` takes."""
    facts = "\n".join(_harmless(line) for line in _facts(found))
    return "\n".join(
        [
            f'"""{_harmless(_one_line(found.record.agent_name))}, written by Burnish.',
            "",
            facts,
            '"""',
            "",
            "CONFIGURATION = {",
            '    "sections": {',
            *(
                _section(path, text)
                for path, text in found.candidate.configuration.sections.items()
            ),
            "    },",
            *_literals(found.candidate.configuration),
            "}",
            *(["", f"LABELS = {labels!r}"] if (labels := labels_of(found.record)) else []),
            "",
        ]
    )


def _facts(found: Promotion) -> Iterator[str]:
    yield f"- Candidate {found.candidate.number} of optimization {found.record.id}"
    if found.score is not None:
        before = "" if found.baseline_score is None else f", baseline {found.baseline_score:.3f}"
        yield f"- Score in the search: {found.score:.3f}{before}"
    if labels := labels_of(found.record):
        yield f"- Labels: {', '.join(map(_one_line, labels))}"
    yield from _proof(found)
    for doubt in found.doubts:
        yield f"- Beware: {_one_line(doubt)}"


def _proof(found: Promotion) -> Iterator[str]:
    """What the comparison on held-out items came to, where the candidate was compared."""
    test, evidence = (found.record.result or {}).get("test") or {}, found.evidence or {}
    if not evidence or not test or not evidence.get("held_out"):
        return
    scores = f"{test['best_score']:.3f}, baseline {test['baseline_score']:.3f}"
    yield f"- Score on {test['items']} held-out items: {scores}"
    interval = f"95% {evidence['ci_low']:+.3f} to {evidence['ci_high']:+.3f}"
    yield f"- Change there: {evidence['delta']:+.3f} ({interval}), {p_relation(evidence['p_value'])}"


def labels_of(record: OptimizationRecord) -> list[str]:
    """The labels that the agent answers with; none where it answers freely or Python started it."""
    return list(((record.spec.get("settings") or {}).get("agent") or {}).get("labels") or ())


def _section(path: str, text: str) -> str:
    """Line by line, so that a change of the prompt is a change of its lines here too."""
    lines = text.splitlines(keepends=True) or [""]
    parts = "".join(f"            {line!r}\n" for line in lines)
    return f"        {path!r}: (\n{parts}        ),"


def _literals(configuration: Configuration) -> Iterator[str]:
    settings: Mapping[str, Any] = {
        "parameters": dict(configuration.parameters),
        "examples": [dict(one) for one in configuration.examples],
    }
    for name, value in settings.items():
        if value:
            told = pprint.pformat(value, width=_WIDTH - 4, sort_dicts=False)
            yield f"    {name!r}: " + told.replace("\n", "\n    ") + ","


def _fenced(text: str, kind: str) -> list[str]:
    longest = max((len(fence) for fence in _FENCE.findall(text)), default=2)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{kind}", text.rstrip("\n"), fence]


def _json(value: Any) -> str:
    plain = dict(value) if isinstance(value, Mapping) else value
    return json.dumps(plain, indent=2, ensure_ascii=False)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _harmless(text: str) -> str:
    """Nothing in it ends the docstring or means anything there."""
    return text.replace("\\", "\\\\").replace('"', "'")


def git_patch(writes: Sequence[FileWrite], root: Path) -> str:
    """What `git apply` takes in the folder `root`."""
    return "".join(part for write in writes for part in _file(write, root))


def repository_root(folder: Path) -> Path:
    """The folder of the Git repository around; the folder itself where there is none."""
    for location in (folder, *folder.parents):
        if (location / ".git").exists():
            return location
    return folder


def _file(write: FileWrite, root: Path) -> Iterator[str]:
    name = write.path.relative_to(root).as_posix() if _is_below(write.path, root) else ""
    shown = name or write.path.name
    old = write.path.read_bytes().decode("utf-8")
    yield f"diff --git {_quoted('a/' + shown)} {_quoted('b/' + shown)}\n"
    lines = difflib.unified_diff(
        _lines(old), _lines(write.text), _quoted(f"a/{shown}"), _quoted(f"b/{shown}")
    )
    for line in lines:
        yield line if line.endswith("\n") else line + _NO_NEWLINE


def _lines(text: str) -> list[str]:
    """Split at newlines alone, as Git does; a carriage return belongs to its line."""
    parts = text.split("\n")
    whole = [f"{part}\n" for part in parts[:-1]]
    return [*whole, parts[-1]] if parts[-1] else whole


def _is_below(path: Path, root: Path) -> bool:
    return path.is_relative_to(root)


def _quoted(name: str) -> str:
    """As Git writes names that hold more than plain characters."""
    if name.isascii() and name.isprintable() and not set(name) & {'"', "\\"}:
        return name
    told = "".join(_escaped(byte) for byte in name.encode("utf-8"))
    return f'"{told}"'


def _escaped(byte: int) -> str:
    character = chr(byte)
    if character in '"\\':
        return f"\\{character}"
    return character if 0x20 <= byte < 0x7F else f"\\{byte:03o}"


_WRITERS = {
    Format.JSON: winner_json,
    Format.MARKDOWN: winner_markdown,
    Format.PYTHON: winner_python,
}


async def winner_text(
    location: ProjectLocation,
    workspace: Workspace,
    record: OptimizationRecord,
    candidate: str,
    kind: Format,
) -> str:
    """The whole text. UsageError where the format cannot say it."""
    candidates = await workspace.optimizations.list_candidates(record.id)
    chosen = find_candidate(record, candidates, candidate)
    baseline = find_candidate(record, candidates, BASELINE)
    found = await prepare_promotion(workspace, record, baseline, chosen)
    if kind is Format.PATCH:
        return _patch(location, found)
    if kind not in _WRITERS:
        formats = ", ".join(one.value for one in (*_WRITERS, Format.PATCH))
        raise UsageError(
            what=f"an optimization cannot be written as {kind.value}",
            why="that is a format for the results of an experiment",
            fix=f"use one of {formats}; `burnish show {record.id} --trials` names its experiments",
            code="bad_usage",
        )
    return _WRITERS[kind](found)


def _patch(location: ProjectLocation, found: Promotion) -> str:
    """All that the winner changes in the project's files; refused where some of it cannot be."""
    config = project_file(found.record.spec, location.config)
    after = found.candidate.configuration
    writes = plan_writes(found.written, after, config, found.record.agent_name)
    if not writes:
        raise UsageError(
            what="there is nothing to write a patch of",
            why="the candidate is the configuration that the run started with",
            fix="name another with --candidate, or use -f json",
            code="nothing_changed",
        )
    return git_patch(writes, repository_root(location.folder.resolve()))
