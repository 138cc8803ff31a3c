"""`burnish show`: one experiment."""

from __future__ import annotations

from typing import Annotated

import typer

from burnish.cli.options import Config, Db, Json, Reference
from burnish.cli.place import Place
from burnish.cli.references import LATEST


def show(
    context: typer.Context,
    experiment: Reference = LATEST,
    items: Annotated[bool, typer.Option("--items", help="Every item.")] = False,
    failing: Annotated[bool, typer.Option("--failing", help="Every item that failed.")] = False,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Show an experiment: its numbers, its configuration and what failed."""
    from burnish.cli.showing import show_experiment  # noqa: PLC0415

    place = Place.of(context, config, db)
    show_experiment(context.obj, place, experiment, items=items, failing=failing)
