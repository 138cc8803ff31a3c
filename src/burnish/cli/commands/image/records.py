"""`burnish image list`, `show`, `cancel` and `compare`: what is stored."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from burnish.cli.image_options import Commit, ImageRunReference, JudgeModel, Sheet
from burnish.cli.options import Config, Db, Json
from burnish.cli.project_location import Place
from burnish.cli.references import LATEST
from burnish.domain.images import ImageRunStatus


def list_runs(
    context: typer.Context,
    *,
    project: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only of this project.")
    ] = None,
    status: Annotated[ImageRunStatus | None, typer.Option(help="Only those that are so.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="At most so many.")] = 20,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """List runs, newest first."""
    from burnish.cli.image_showing import list_image_runs  # noqa: PLC0415

    place = Place.of(context, config, db)
    list_image_runs(context.obj, place, project=project, status=status, limit=limit)


def show(
    context: typer.Context,
    reference: ImageRunReference = LATEST,
    *,
    sheet: Sheet = None,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Show a run: its leaderboard, its suggestions, what went wrong. --sheet writes the pictures."""
    from burnish.cli.image_showing import show_image_run  # noqa: PLC0415

    show_image_run(context.obj, Place.of(context, config, db), reference, sheet)


def cancel(
    context: typer.Context,
    reference: ImageRunReference,
    *,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Stop a run, wherever it runs. What was drawn and judged is kept."""
    from burnish.cli.image_showing import cancel_image_run  # noqa: PLC0415

    cancel_image_run(context.obj, Place.of(context, config, db), reference)


def compare(
    context: typer.Context,
    left: Commit,
    right: Commit,
    *,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the map of differences here."),
    ] = None,
    judge: JudgeModel = None,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Compare two commits of a project: how far their pixels differ, and both rubrics."""
    from burnish.cli.image_comparing import compare_commits  # noqa: PLC0415

    place = Place.of(context, config, db)
    compare_commits(context.obj, place, (left, right), output=output, judge=judge)
