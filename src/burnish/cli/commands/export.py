"""`burnish export`: an experiment or a winner, written to a file or to stdout."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Annotated, TextIO

import typer

from burnish.app.evaluate.baselines import (
    compared_with,
    outcomes_of,
    read_baseline,
    scored_against,
)
from burnish.app.evaluate.records import Record, stream_records
from burnish.app.evaluate.result import EvaluationResult, result_of
from burnish.app.references import BEST, LATEST, resolve, resolve_any
from burnish.app.wiring import Workspace
from burnish.cli.console import Streams
from burnish.cli.exports.formats import Format, csv_lines, json_document, json_lines, junit_lines
from burnish.cli.exports.markdown import Compared, evaluation_markdown
from burnish.cli.exports.page import html_lines
from burnish.cli.exports.winner import winner_text
from burnish.cli.options import Config, Db
from burnish.cli.project_location import ProjectLocation
from burnish.cli.running import run
from burnish.domain import Experiment, OptimizationRecord, UsageError

_BY_SUFFIX = {
    ".xml": Format.JUNIT,
    ".htm": Format.HTML,
    ".ndjson": Format.JSONL,
    ".md": Format.MARKDOWN,
    ".py": Format.PYTHON,
    ".diff": Format.PATCH,
}


def export(
    context: typer.Context,
    reference: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help="An experiment's or an optimization's id, a part of it, its name, or `latest`.",
            show_default=False,
        ),
    ] = LATEST,
    format_: Annotated[
        Format | None,
        typer.Option(
            "--format", "-f", help="The format.", show_default="by FILE's ending, else json"
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to.", show_default="stdout"),
    ] = None,
    candidate: Annotated[
        str,
        typer.Option(help="Which candidate of an optimization: its id, its number, or baseline."),
    ] = BEST,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="EXPERIMENT|FILE",
            help="In Markdown: what an experiment is compared with, here or in a JSON file that "
            "this command wrote.",
        ),
    ] = None,
    config: Config = None,
    db: Db = None,
) -> None:
    """Write an experiment as JSON, JSONL, CSV, JUnit XML, Markdown or a self-contained HTML page.

    Of an optimization the winner is written, as JSON, Markdown, a Python module, or a Git patch of
    the files that its sections came from.
    """
    chosen = format_ or _format_of(output)
    if baseline is not None and chosen is not Format.MARKDOWN:
        raise UsageError(
            what="--baseline cannot be used",
            why=f"{chosen.value} has no place for a comparison",
            fix="add -f markdown",
            code="bad_usage",
        )
    location = ProjectLocation.of(context, config, db)
    run(_export(context.obj, location, reference, chosen, output, candidate, baseline))


def _format_of(output: Path | None) -> Format:
    suffix = "" if output is None else output.suffix.lower()
    if suffix in _BY_SUFFIX:
        return _BY_SUFFIX[suffix]
    names = {f".{one.value}": one for one in Format}
    return names.get(suffix, Format.JSON)


async def _export(
    streams: Streams,
    location: ProjectLocation,
    reference: str,
    kind: Format,
    output: Path | None,
    candidate: str,
    baseline: str | None,
) -> None:
    """Write it; a file appears only when it is whole."""
    async with location.read() as workspace:
        found = await _find(workspace, reference, kind, baseline)
        if isinstance(found, OptimizationRecord):
            text = await winner_text(location, workspace, found, candidate, kind)
            with _target(streams, output) as file:
                file.write(text)
            return
        result = await result_of(workspace.experiments, found.id)
        with _target(streams, output) as file:
            async for piece in _pieces(workspace, result, kind, baseline):
                file.write(piece)


async def _find(
    workspace: Workspace, reference: str, kind: Format, baseline: str | None
) -> Experiment | OptimizationRecord:
    """`latest` is the newest of both, as in `burnish show`; only experiments have a baseline."""
    if baseline is not None:
        return await resolve(workspace.experiments, reference)
    found = await resolve_any(workspace, reference)
    if kind.of_winner and isinstance(found, Experiment):
        newest = await workspace.optimizations.list_optimizations(limit=1)
        raise UsageError(
            what=f"experiment {found.id} cannot be written as {kind.value}",
            why="that is a format for the winner of an optimization",
            fix=f"name an optimization, such as `burnish export {newest[0].id} -f {kind.value}`"
            if newest
            else "run `burnish optimize` first",
            code="bad_usage",
        )
    return found


@contextlib.contextmanager
def _target(streams: Streams, output: Path | None) -> Iterator[TextIO]:
    if output is None or str(output) == "-":
        yield streams.out
        return
    with _whole_file(output) as file:
        yield file
    streams.messages.print(f"wrote {output}", soft_wrap=True)


async def _pieces(
    workspace: Workspace, result: EvaluationResult, kind: Format, baseline: str | None
) -> AsyncIterator[str]:
    records = stream_records(workspace, result.experiment)
    if kind is Format.MARKDOWN:
        compared = None
        if baseline:
            result, compared = await _compared(workspace, result, baseline)
        yield await evaluation_markdown(result, records, compared)
        return
    if kind is Format.CSV:
        scorers, fields = await _columns(workspace, result)
        pieces = csv_lines(records, scorers=scorers, fields=fields)
    else:
        pieces = _formatted(result, kind, records)
    async for piece in pieces:
        yield piece


async def _compared(
    workspace: Workspace, result: EvaluationResult, baseline: str
) -> tuple[EvaluationResult, Compared]:
    """As `burnish eval --baseline` compares them, and counts it."""
    experiments = workspace.experiments
    before = await read_baseline(experiments, baseline)
    result = await compared_with(experiments, result, before)
    after = await outcomes_of(experiments, result.experiment_id)
    return result, Compared(scored_against(before, result.experiment), after)


def _formatted(
    result: EvaluationResult, kind: Format, records: AsyncIterator[Record]
) -> AsyncIterator[str]:
    if kind is Format.JSONL:
        return json_lines(records)
    if kind is Format.JUNIT:
        return junit_lines(result, records)
    if kind is Format.HTML:
        return html_lines(result, records)
    return json_document(result, records)


async def _columns(workspace: Workspace, result: EvaluationResult) -> tuple[list[str], list[str]]:
    """A header must know every column, so the names take a pass of their own."""
    scorers: dict[str, None] = {}
    fields: dict[str, None] = {}
    async for record in stream_records(workspace, result.experiment):
        scorers.update(dict.fromkeys(score.name for score in record.result.scores))
        fields.update(dict.fromkeys(record.fields))
    return list(scorers), list(fields)


@contextlib.contextmanager
def _whole_file(output: Path) -> Iterator[TextIO]:
    """A file that takes its name only once everything is in it."""
    # A device or a pipe cannot be replaced; it is written to as it is.
    special = output.exists() and not output.is_file()
    part = output if special else output.with_name(f".{output.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            yield file
        if not special:
            part.replace(output)
    except OSError as error:
        raise UsageError(
            what=f"{output} cannot be written",
            why=error.strerror or str(error),
            fix="name a file in a folder that exists and can be written",
            code="unwritable",
        ) from error
    finally:
        if not special:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
