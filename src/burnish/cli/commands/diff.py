"""`burnish diff`: what two candidates differ in."""

from __future__ import annotations

from typing import Annotated

import typer

from burnish.cli.candidate_references import BASELINE, BEST
from burnish.cli.options import Config, Db, Json, OptimizationReference
from burnish.cli.project_location import Place
from burnish.cli.references import LATEST

_NAMES = "A number, an id, `baseline` or `best`."


def diff(
    context: typer.Context,
    optimization: OptimizationReference = LATEST,
    a: Annotated[str | None, typer.Argument(metavar="[A]", help=_NAMES, show_default=False)] = None,
    b: Annotated[str | None, typer.Argument(metavar="[B]", help=_NAMES, show_default=False)] = None,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Show what changed between two candidates, by section; else between baseline and best.

    With A alone, the baseline is compared with A.
    """
    from burnish.cli.differing import show_difference  # noqa: PLC0415

    before, after = (BASELINE, a or BEST) if b is None else (a or BASELINE, b)
    show_difference(context.obj, Place.of(context, config, db), optimization, before, after)
