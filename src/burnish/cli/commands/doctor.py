"""`burnish doctor`: what is installed and what answers."""

from __future__ import annotations

from typing import Annotated

import typer

from burnish.cli.options import Config, Db, Json
from burnish.cli.project_location import Place


def doctor(
    context: typer.Context,
    offline: Annotated[bool, typer.Option("--offline", help="Make no model call.")] = False,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Check what is installed, the database, and whether each model answers."""
    from burnish.cli.examination import examine  # noqa: PLC0415

    raise typer.Exit(examine(context.obj, Place.of(context, config, db), offline=offline))
