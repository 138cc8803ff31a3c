"""`burnish import`: another tool's test cases and prompts as a project."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from burnish.cli.options import Json


class Source(StrEnum):
    """The tools whose files can be read; the same names as in `burnish.integrations.imports`."""

    PROMPTFOO = "promptfoo"
    INSPECT = "inspect"
    OPENAI_EVALS = "openai-evals"


def import_file(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A promptfoo config (YAML, JSON) or its test cases (CSV, YAML, JSON), an Inspect "
            "dataset (JSON, JSONL, CSV), or samples of OpenAI's evals (JSONL).",
            show_default=False,
        ),
    ],
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
            show_default="a folder here, called as FILE",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
    json_output: Json = False,
) -> None:
    """Make a project of another tool's test cases: promptfoo, Inspect, OpenAI evals.

    Nothing is called and no code of the file is run: what would need that is listed.
    """
    from burnish.cli.importing import import_project  # noqa: PLC0415

    import_project(context.obj, file, None if source is None else source.value, output, force=force)
