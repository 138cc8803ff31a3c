"""`burnish report`: an optimization as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from burnish.cli.console import Session
from burnish.cli.options import Config, Db, Json, OptimizationReference
from burnish.cli.project_location import Place
from burnish.cli.references import LATEST, resolve_optimization


def report(
    context: typer.Context,
    optimization: OptimizationReference = LATEST,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Where to.", show_default="report-ID.html"
        ),
    ] = None,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Write an optimization as one HTML page that opens offline: verdict, charts, diff, items, cost."""
    from burnish.cli.running import run  # noqa: PLC0415

    session: Session = context.obj
    path = run(_write(Place.of(context, config, db), optimization, output))
    if session.json_output:
        session.print_document({"path": str(path)})
    else:
        session.say(f"wrote {path}")


async def _write(place: Place, reference: str, output: Path | None) -> Path:
    from burnish.app.report.html.page import write_report  # noqa: PLC0415

    async with place.read() as workspace:
        record = await resolve_optimization(workspace.optimizations, reference)
        target = Path(f"report-{record.id}.html") if output is None else output
        return await write_report(workspace, record.id, target)
