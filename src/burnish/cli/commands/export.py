"""`burnish export`: an experiment, or an optimization's winner, in another format."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from burnish.cli.candidate_references import BEST
from burnish.cli.options import Config, Db
from burnish.cli.project_location import Place
from burnish.cli.references import LATEST


class Format(StrEnum):
    """What can be written: an experiment in the first five, a winner in the last three or JSON."""

    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"
    JUNIT = "junit"
    HTML = "html"
    MARKDOWN = "markdown"
    PYTHON = "python"
    PATCH = "patch"

    @property
    def of_winner(self) -> bool:
        """Whether only a candidate can be written so."""
        return self in {Format.MARKDOWN, Format.PYTHON, Format.PATCH}


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
            help="An experiment's or an optimization's id, its beginning or end, or `latest`.",
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
    config: Config = None,
    db: Db = None,
) -> None:
    """Write an experiment as JSON, JSONL, CSV, JUnit XML or a self-contained HTML page.

    Of an optimization the winner is written, as JSON, Markdown, a Python module, or a Git patch of
    the files that its sections came from.
    """
    from burnish.cli.exporting import export_any  # noqa: PLC0415

    chosen = format_ or _format_of(output)
    place = Place.of(context, config, db)
    export_any(context.obj, place, reference, chosen, output, candidate=candidate)


def _format_of(output: Path | None) -> Format:
    suffix = "" if output is None else output.suffix.lower()
    if suffix in _BY_SUFFIX:
        return _BY_SUFFIX[suffix]
    names = {f".{one.value}": one for one in Format}
    return names.get(suffix, Format.JSON)
