"""`burnish list`: optimizations and experiments, newest first."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from burnish.cli.options import Config, Db, Json
from burnish.cli.project_location import Place


class Kind(StrEnum):
    """What can be listed."""

    ALL = "all"
    OPTIMIZATIONS = "optimizations"
    EXPERIMENTS = "experiments"


def list_all(
    context: typer.Context,
    kind: Annotated[Kind, typer.Option(help="Which of them.")] = Kind.ALL,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, help="At most so many of each.")
    ] = 20,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """List optimizations and experiments, newest first.

    Experiments that an optimization ran belong to it: `burnish show ID --trials` lists them.
    """
    from burnish.cli.listing import show_listing  # noqa: PLC0415

    show_listing(context.obj, Place.of(context, config, db), kind, limit)
