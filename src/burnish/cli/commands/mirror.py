"""`burnish mirror`: what is on its way to an Opik server."""

from __future__ import annotations

import typer

from burnish.cli.options import Config, Db, Json
from burnish.cli.project_location import Place
from burnish.cli.usage_mistakes import Commands

_BEHIND = 4

mirror = typer.Typer(help="Send what an Opik server has not been told yet.", cls=Commands)


@mirror.callback(invoke_without_command=True)
def group(context: typer.Context) -> None:
    """Without a command, help is shown."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@mirror.command("flush")
def flush(
    context: typer.Context, json_output: Json = False, config: Config = None, db: Db = None
) -> None:
    """Send what runs with --mirror have left. Exit code 4 says that a server cannot be reached."""
    from burnish.cli.mirror_flush import flush_mirrors  # noqa: PLC0415

    outcome = flush_mirrors(context.obj, Place.of(context, config, db))
    raise typer.Exit(_BEHIND if outcome.problems else 0)
