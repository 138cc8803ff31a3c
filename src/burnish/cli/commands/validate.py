"""`burnish validate`: check everything, call nothing."""

from __future__ import annotations

import typer

from burnish.cli.options import Config, Db, Json
from burnish.cli.project_location import Place


def validate(
    context: typer.Context, json_output: Json = False, config: Config = None, db: Db = None
) -> None:
    """Check config, dataset, scorers and model. Nothing is called and nothing is paid."""
    from burnish.cli.validating import validate_place  # noqa: PLC0415

    validate_place(context.obj, Place.of(context, config, db))
