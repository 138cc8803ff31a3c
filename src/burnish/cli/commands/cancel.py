"""`burnish cancel`: stop an optimization, wherever it runs."""

from __future__ import annotations

import typer

from burnish.cli.options import Config, Db, Json, OptimizationReference
from burnish.cli.project_location import Place


def cancel(
    context: typer.Context,
    optimization: OptimizationReference,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Stop an optimization for good, also one that another process or machine runs.

    What was evaluated stays and is never paid for again. Cancelling twice does no harm.
    """
    from burnish.cli.cancelling import cancel_reference  # noqa: PLC0415

    cancel_reference(context.obj, Place.of(context, config, db), optimization)
