"""`burnish image`: variants of a picture's prompt, drawn, judged and ranked."""

from __future__ import annotations

import typer

from burnish.cli.commands.image.optimize import optimize
from burnish.cli.commands.image.records import cancel, compare, list_runs, show
from burnish.cli.commands.image.run import resume, run_command
from burnish.cli.parser import Commands

image = typer.Typer(
    help="Image runs: variants of a prompt, drawn, judged and ranked, with suggestions.",
    cls=Commands,
)


@image.callback(invoke_without_command=True)
def group(context: typer.Context) -> None:
    """Without a command, help is shown."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


image.command("run")(run_command)
image.command()(optimize)
image.command()(resume)
image.command()(cancel)
image.command("list")(list_runs)
image.command()(show)
image.command()(compare)
