"""Rows of traces: `burnish import` of what was traced, from files or from the database here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from burnish.app.datasets.stored import stored_id, with_stored_rows
from burnish.app.wiring import build_suite
from burnish.cli.commands.init import require_free, write_files
from burnish.cli.console import Streams
from burnish.cli.project_location import ProjectLocation
from burnish.cli.running import run
from burnish.cli.wording import harmless
from burnish.domain import UsageError
from burnish.domain.wording import counted
from burnish.evaluation.suite import Suite
from burnish.integrations.imports.traces import (
    Selection,
    Trace,
    TraceKind,
    TraceRows,
    added_rows,
    guess_trace_kind,
    read_traces,
    select_rows,
)
from burnish.integrations.imports.traces.stored import stored_traces
from burnish.models.scripted import ScriptedModel

# In place of a file: the traces that Opik clients sent to the server of this database.
STORED = "stored:opik"
_ROWS = (".jsonl", ".ndjson")


def rows_text(rows: Iterable[Mapping[str, Any]]) -> str:
    """JSON Lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def trace_kind(file: Path, source: str | None) -> TraceKind | None:
    """What traces there are, by their name or by the content; None where there are none."""
    if str(file) == STORED:
        return TraceKind.OPIK
    if source is None:
        return guess_trace_kind(file)
    return TraceKind(source) if source in list(TraceKind) else None


def refuse_trace_options(*given: object) -> None:
    """What only traces have."""
    if any(one is not None for one in given):
        raise UsageError(
            what="these options cannot be used here",
            why="where, label, redact, sample, cluster-by, exclude and append are for traces, and the "
            "file holds test cases",
            fix=f"leave them out, or say what it is with --from {'|'.join(TraceKind)}",
            code="invalid_option",
        )


def import_traces(
    streams: Streams,
    location: ProjectLocation,
    file: Path,
    kind: TraceKind,
    selection: Selection,
    target: Path,
    *,
    append: bool,
    force: bool,
    suite: Suite | None,
) -> None:
    """Rows of the traces into a file of their own, or behind those that are there."""
    if target.suffix.lower() not in _ROWS:
        raise UsageError(
            what=f"{target} cannot hold the rows",
            why="traces become the rows of a dataset, and nothing else",
            fix="name a file with --output NAME.jsonl",
            code="invalid_option",
        )
    if not append:
        require_free(target.parent, [target.name], force=force, other="another file with --output")
    stored = str(file) == STORED
    traces = run(_stored_traces(location)) if stored else read_traces(file, kind)
    found = select_rows(traces, selection)
    rows, before = found.rows, b""
    if append:
        split = suite is not None and suite.policy.split is not None
        ours = split and target.resolve() == dataset_file(location).resolve()
        rows, before = added_rows(found.rows, target, split=ours)
    write_files(target.parent, {target.name: before + rows_text(rows).encode("utf-8", "replace")})
    _tell_traces(streams, kind, found, target, len(rows))


def dataset_file(location: ProjectLocation) -> Path:
    """Where the dataset of the project's suite is, if it is a file."""
    return location.folder / location.settings().suite.dataset


async def project_suite(location: ProjectLocation) -> Suite | None:
    """The suite of the project here, once its dataset is there."""
    if not location.config.is_file():
        return None
    settings = location.settings()
    if stored_id(settings.suite.dataset) is not None:
        async with location.read() as workspace:
            settings = await with_stored_rows(workspace, settings)
    elif not dataset_file(location).exists():
        return None
    # Scorers are built and not run, so no model has to be reached.
    return build_suite(settings.suite_spec(), lambda *_: ScriptedModel([""]))


async def _stored_traces(location: ProjectLocation) -> list[Trace]:
    async with location.read() as workspace:
        return await stored_traces(workspace.opik)


def _tell_traces(
    streams: Streams, kind: TraceKind, found: TraceRows, target: Path, added: int
) -> None:
    left = dict(found.left_out)
    if there := len(found.rows) - added:
        left["there already"] = there
    if streams.json_output:
        streams.print_document(
            {
                "kind": kind.value,
                "file": str(target.absolute()),
                "rows": added,
                "left_out": left,
                "redacted": dict(found.redacted),
                "clustered_by": found.clustered_by,
            }
        )
        return
    streams.say(f"{kind.value}: {counted(added, 'row')} in {harmless(str(target))}")
    streams.say(*(f"- left out: {number:,} {why}" for why, number in left.items()))
    if found.clustered_by:
        streams.say(f"- clustered by {found.clustered_by}")
    streams.say(*(f"- redacted: {number:,} × {name}" for name, number in found.redacted.items()))
