"""`burnish report`: an optimization as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from burnish.app.references import LATEST, resolve_optimization
from burnish.cli.console import Streams
from burnish.cli.options import Config, Db, Json, OptimizationReference
from burnish.cli.project_location import ProjectLocation


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

    streams: Streams = context.obj
    path = run(_write(ProjectLocation.of(context, config, db), optimization, output))
    if streams.json_output:
        streams.print_document({"path": str(path)})
    else:
        streams.say(f"wrote {path}")


async def _write(location: ProjectLocation, reference: str, output: Path | None) -> Path:
    from burnish.app.report.html.page import write_report  # noqa: PLC0415

    async with location.read() as workspace:
        record = await resolve_optimization(workspace.optimizations, reference)
        target = Path(f"report-{record.id}.html") if output is None else output
        return await write_report(workspace, record.id, target)
