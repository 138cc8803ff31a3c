"""`burnish list`: the experiments, newest first."""

from __future__ import annotations

from typing import Annotated

import typer

from burnish.cli.options import Config, Db, Json
from burnish.cli.place import Place
from burnish.cli.session import Session


def list_experiments(
    context: typer.Context,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="At most so many.")] = 20,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """List experiments, newest first."""
    from burnish.cli.display.listings import listing_json, print_listing, read_listing  # noqa: PLC0415
    from burnish.cli.running import run  # noqa: PLC0415

    session: Session = context.obj
    place = Place.of(context, config, db)
    rows = run(read_listing(place, limit)) if place.has_database else []
    if session.json_output:
        session.print_document({"experiments": [listing_json(row) for row in rows]})
    else:
        print_listing(session.console, rows)
