"""`burnish mirror`: what is on its way to an Opik server."""

from __future__ import annotations

from dataclasses import asdict

import typer

from burnish.cli.console import Streams
from burnish.cli.options import Config, Db, Json
from burnish.cli.parser import Commands
from burnish.cli.project_location import ProjectLocation
from burnish.cli.running import run
from burnish.domain.wording import counted
from burnish.integrations.opik.mirror.mirror import MirrorOutcome, flush

_BEHIND = 4

mirror = typer.Typer(help="Send what an Opik server has not been told yet.", cls=Commands)


@mirror.callback(invoke_without_command=True)
def group(context: typer.Context) -> None:
    """Without a command, help is shown."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@mirror.command("flush")
def flush_command(
    context: typer.Context, json_output: Json = False, config: Config = None, db: Db = None
) -> None:
    """Send what runs with --mirror have left. Exit code 4 says that a server cannot be reached."""
    streams: Streams = context.obj
    location = ProjectLocation.of(context, config, db)
    outcome = run(_flush(location))
    if streams.json_output:
        streams.print_document(asdict(outcome))
    else:
        for line in mirror_lines(outcome):
            streams.console.print(line, soft_wrap=True)
    raise typer.Exit(_BEHIND if outcome.problems else 0)


async def _flush(location: ProjectLocation) -> MirrorOutcome:
    async with location.read() as workspace:
        return await flush(workspace)


def mirror_lines(outcome: MirrorOutcome) -> list[str]:
    """How much went over, and what is left."""
    if not outcome.open:
        return [f"mirrored: {counted(outcome.experiments, 'experiment')} sent, nothing is left"]
    return [
        *(f"the mirror is behind: {problem}" for problem in outcome.problems),
        f"mirrored: {counted(outcome.experiments, 'experiment')} sent, "
        f"{counted(outcome.open, 'optimization')} with "
        "something left; `burnish mirror flush` or the next mirrored run sends it",
    ]
