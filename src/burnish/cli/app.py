"""The commands and the options that stand before them."""

from __future__ import annotations

from typing import Annotated

import typer

from burnish import __version__
from burnish.cli.commands.bench import bench
from burnish.cli.commands.cancel import cancel
from burnish.cli.commands.compress import compress
from burnish.cli.commands.demo import demo
from burnish.cli.commands.diff import diff
from burnish.cli.commands.doctor import doctor
from burnish.cli.commands.eval import EvalCommand, evaluate
from burnish.cli.commands.export import export
from burnish.cli.commands.image import image
from burnish.cli.commands.import_file import import_file
from burnish.cli.commands.init import init
from burnish.cli.commands.list import list_all
from burnish.cli.commands.mirror import mirror
from burnish.cli.commands.models import models
from burnish.cli.commands.optimize import optimize
from burnish.cli.commands.promote import promote
from burnish.cli.commands.report import report
from burnish.cli.commands.resume import resume
from burnish.cli.commands.serve import serve
from burnish.cli.commands.show import show
from burnish.cli.commands.tags import tags
from burnish.cli.commands.validate import validate
from burnish.cli.commands.worker import worker
from burnish.cli.options import Config, Db, Debug
from burnish.cli.usage_mistakes import Commands

_HELP = "Make prompts and agents measurably better, cheaper and safer to change."
_EPILOG = "New here? `burnish demo` shows it at work; `burnish init` makes an example to change."

app = typer.Typer(
    name="burnish",
    help=_HELP,
    epilog=_EPILOG,
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"burnish {__version__}")
        raise typer.Exit


@app.callback()
def burnish(
    context: typer.Context,
    config: Config = None,
    db: Db = None,
    debug: Debug = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Commands read the options before them from the context; without a command, help is shown."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


app.command()(init)
app.command("import")(import_file)
app.command()(validate)
app.command("eval", cls=EvalCommand)(evaluate)
app.command()(optimize)
app.command()(compress)
app.command()(resume)
app.command()(cancel)
app.command("list")(list_all)
app.command()(show)
app.command()(diff)
app.command()(promote)
app.command()(tags)
app.command()(export)
app.command()(report)
app.command()(serve)
app.command()(worker)
app.add_typer(mirror, name="mirror")
app.command()(doctor)
app.command()(demo)
app.add_typer(image, name="image")
app.add_typer(models, name="models")
app.add_typer(bench, name="bench")
