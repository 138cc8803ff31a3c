"""`burnish promote`: make a candidate the agent's active configuration."""

from __future__ import annotations

from typing import Annotated

import typer

from burnish.cli.candidate_references import BEST
from burnish.cli.options import Config, Db, Json, OptimizationReference
from burnish.cli.project_location import Place


def promote(
    context: typer.Context,
    optimization: OptimizationReference,
    candidate: Annotated[
        str,
        typer.Argument(metavar="[CANDIDATE]", help="A number, an id, `baseline` or `best`."),
    ] = BEST,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    note: Annotated[str, typer.Option(help="Why, kept with the version.")] = "",
    write: Annotated[
        bool,
        typer.Option(
            "--write", help="Also write changed sections back into the files they came from."
        ),
    ] = False,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Make a candidate the agent's new active version, after showing what speaks for it.

    Versions are numbered and none is ever overwritten. Exit code 1 says that you said no.
    """
    from burnish.cli.promoting import promote_candidate  # noqa: PLC0415

    place = Place.of(context, config, db)
    code = promote_candidate(
        context.obj, place, optimization, candidate, yes=yes, note=note, write=write
    )
    raise typer.Exit(code)
