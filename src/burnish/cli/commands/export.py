"""`burnish export`: an experiment in another format."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from burnish.cli.options import Config, Db, Reference
from burnish.cli.place import Place
from burnish.cli.references import LATEST


class Format(StrEnum):
    """What an experiment can be written as."""

    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"
    JUNIT = "junit"
    HTML = "html"


_BY_SUFFIX = {".xml": Format.JUNIT, ".htm": Format.HTML, ".ndjson": Format.JSONL}


def export(
    context: typer.Context,
    experiment: Reference = LATEST,
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
    config: Config = None,
    db: Db = None,
) -> None:
    """Write an experiment as JSON, JSONL, CSV, JUnit XML or a self-contained HTML page."""
    from burnish.cli.exporting import export_experiment  # noqa: PLC0415

    chosen = format_ or _format_of(output)
    export_experiment(context.obj, Place.of(context, config, db), experiment, chosen, output)


def _format_of(output: Path | None) -> Format:
    suffix = "" if output is None else output.suffix.lower()
    if suffix in _BY_SUFFIX:
        return _BY_SUFFIX[suffix]
    names = {f".{one.value}": one for one in Format}
    return names.get(suffix, Format.JSON)
