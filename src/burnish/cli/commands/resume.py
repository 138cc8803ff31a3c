"""`burnish resume`: go on with an optimization that was stopped."""

from __future__ import annotations

import typer

from burnish.cli.options import Config, Db, Json, OptimizationReference
from burnish.cli.place import Place


def resume(
    context: typer.Context,
    optimization: OptimizationReference,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Go on with an optimization where it stopped: after Ctrl-C, a crash or a failure.

    It goes on with the settings and prompts it was started with, whatever burnish.toml says now.
    """
    from burnish.cli.optimizing import resume_optimization  # noqa: PLC0415

    place = Place.of(context, config, db)
    raise typer.Exit(resume_optimization(context.obj, place, optimization))
