"""The `burnish` program: its commands, and the options that stand before them."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand

from burnish import __version__
from burnish.cli.options import Config, Db, Debug
from burnish.cli.parser import Commands, keep_defaults
from burnish.support.garbage import without_garbage_collection

_HELP = "Make prompts and agents measurably better, cheaper and safer to change."
_EPILOG = "New here? `burnish demo` shows it at work; `burnish init` makes an example to change."


class CommandEntry(NamedTuple):
    """Where a command is, in `burnish.cli.commands`, and the first sentence of its help."""

    module: str
    attribute: str
    help: str
    cls: str | None = None


COMMANDS = {
    "init": CommandEntry("init", "init", "Make a runnable example that needs no key."),
    "import": CommandEntry(
        "datasets.import_file",
        "import_file",
        "Make a project of another tool's test cases, or a dataset of traces.",
    ),
    "synthesize": CommandEntry(
        "datasets.synthesize",
        "synthesize",
        "Let a model write rows for training, unlike those there are.",
    ),
    "validate": CommandEntry(
        "validate",
        "validate",
        "Check config, dataset, scorers and model. Nothing is called and nothing is paid.",
    ),
    "eval": CommandEntry(
        "eval",
        "evaluate",
        "Run the agent over the suite, and keep and score every answer.",
        cls="EvalCommand",
    ),
    "optimize": CommandEntry(
        "optimize",
        "optimize",
        "Search for a better configuration, and prove it on items the search never saw.",
    ),
    "compress": CommandEntry(
        "compress",
        "compress",
        "Make the prompt shorter, as long as nothing that passed before fails.",
    ),
    "resume": CommandEntry(
        "jobs.resume",
        "resume",
        "Go on with an optimization or an evaluation that stopped: after Ctrl-C, a crash or a failure.",
    ),
    "cancel": CommandEntry(
        "jobs.cancel",
        "cancel",
        "Stop an optimization or an evaluation, also one that another process or machine runs.",
    ),
    "list": CommandEntry("list", "list_all", "List optimizations and experiments, newest first."),
    "show": CommandEntry(
        "show",
        "show",
        "Show an experiment or an optimization: its numbers, its configuration, what came out.",
    ),
    "diff": CommandEntry(
        "diff",
        "diff",
        "Show what changed between two candidates, by section; else between baseline and best.",
    ),
    "compare": CommandEntry(
        "compare",
        "compare",
        "Compare two experiments or optimizations on the items that both ran.",
    ),
    "cases": CommandEntry(
        "datasets.cases",
        "cases",
        "Keep the items that failed in a run as cases of a regression suite, with their origin.",
    ),
    "judge": CommandEntry(
        "judge",
        "judge",
        "Judges: checked against people's labels, and ranking experiments.",
    ),
    "labels": CommandEntry(
        "labels",
        "labels",
        "Labels of people: sets, agreement, versions, CSV.",
    ),
    "promote": CommandEntry(
        "agents.promote",
        "promote_command",
        "Make a candidate the agent's new active version, after showing what speaks for it.",
    ),
    "versions": CommandEntry(
        "agents.versions",
        "versions",
        "List the versions of the agent, newest first, and which of them burnish.toml has.",
    ),
    "revert": CommandEntry(
        "agents.revert",
        "revert",
        "Make an earlier version active again, as a new version: nothing of the history goes.",
    ),
    "tags": CommandEntry(
        "tags",
        "tags",
        "List the tags of the agent's prompt, and whether they still fit.",
    ),
    "export": CommandEntry(
        "export",
        "export",
        "Write an experiment as JSON, JSONL, CSV, JUnit XML, Markdown or a self-contained HTML page.",
    ),
    "report": CommandEntry(
        "report",
        "report",
        "Write an optimization as one HTML page that opens offline: "
        "verdict, charts, diff, items, cost.",
    ),
    "serve": CommandEntry(
        "servers.serve",
        "serve",
        "Serve the project over HTTP: start runs, follow them live, read what came out.",
    ),
    "mailbox": CommandEntry(
        "servers.worker",
        "mailbox_command",
        "Show what waits in a mailbox, or its dead letters, and send those again.",
    ),
    "worker": CommandEntry(
        "servers.worker",
        "worker",
        "Serve the agent of this folder to other processes and machines, until SIGTERM or Ctrl-C.",
    ),
    "mcp": CommandEntry(
        "servers.mcp",
        "mcp",
        "Serve a project's runs to coding agents over MCP, on stdin and stdout.",
    ),
    "doctor": CommandEntry(
        "doctor",
        "doctor",
        "Check what is installed, the database, and whether each model answers.",
    ),
    "demo": CommandEntry(
        "demo",
        "demo",
        "Make a prompt better on a real model inside Burnish, and prove it on held-out reviews.",
    ),
    "mirror": CommandEntry("mirror", "mirror", "Send what an Opik server has not been told yet."),
    "image": CommandEntry(
        "image",
        "image",
        "Image runs: variants of a prompt, drawn, judged and ranked, with suggestions.",
    ),
    "models": CommandEntry(
        "models", "models", "List, get and serve the embedded models, and show prices."
    ),
    "bench": CommandEntry(
        "bench", "bench", "Run a benchmark: `burnish bench optimizers` compares optimizers."
    ),
}


def load_command(name: str) -> Any:
    """The command itself: only now its module is imported, and no other's."""
    entry = COMMANDS[name]
    with without_garbage_collection():
        module = import_module(f"burnish.cli.commands.{entry.module}")
    target = getattr(module, entry.attribute)
    host = typer.Typer(rich_markup_mode="markdown")
    if isinstance(target, typer.Typer):
        host.add_typer(target, name=name)
    else:
        host.command(name, cls=getattr(module, entry.cls) if entry.cls else None)(target)
    command = typer.main.get_group(host).commands[name]
    keep_defaults(command)
    return command


class _Program(Commands):
    """Lists commands by what is known of them here, and loads the one that is invoked."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {
            name: TyperCommand(name, help=entry.help) for name, entry in COMMANDS.items()
        }

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command of the first argument, loaded."""
        name, known, rest = super().resolve_command(ctx, args)
        return name, None if known is None else load_command(known.name), rest


app = typer.Typer(
    name="burnish",
    help=_HELP,
    epilog=_EPILOG,
    cls=_Program,
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
