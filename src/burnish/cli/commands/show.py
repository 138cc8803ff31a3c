"""`burnish show`: one experiment or optimization."""

from __future__ import annotations

from typing import Annotated

import typer

from burnish.cli.options import Config, Db, Json
from burnish.cli.project_location import Place
from burnish.cli.references import LATEST
from burnish.cli.views import Views

_EXPERIMENT, _OPTIMIZATION = "Of an experiment", "Of an optimization"


def show(
    context: typer.Context,
    reference: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help="An experiment's or optimization's id, its beginning or end, or `latest`.",
            show_default=False,
        ),
    ] = LATEST,
    *,
    items: Annotated[
        bool, typer.Option("--items", help="Every item.", rich_help_panel=_EXPERIMENT)
    ] = False,
    failing: Annotated[
        bool,
        typer.Option("--failing", help="Every item that failed.", rich_help_panel=_EXPERIMENT),
    ] = False,
    trials: Annotated[
        bool, typer.Option("--trials", help="Every trial.", rich_help_panel=_OPTIMIZATION)
    ] = False,
    graph: Annotated[
        bool,
        typer.Option(
            "--graph",
            help="Which candidate came from which, as a tree; nodes and edges with --json.",
            rich_help_panel=_OPTIMIZATION,
        ),
    ] = False,
    rejections: Annotated[
        bool,
        typer.Option(
            "--rejections", help="Proposals that were not run.", rich_help_panel=_OPTIMIZATION
        ),
    ] = False,
    events: Annotated[
        bool,
        typer.Option("--events", help="What happened when.", rich_help_panel=_OPTIMIZATION),
    ] = False,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Show an experiment or an optimization: its numbers, its configuration, what came out."""
    from burnish.cli.showing_any import show_any  # noqa: PLC0415

    views = Views(
        items=items,
        failing=failing,
        trials=trials,
        graph=graph,
        rejections=rejections,
        events=events,
    )
    show_any(context.obj, Place.of(context, config, db), reference, views)
