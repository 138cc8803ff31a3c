"""`burnish models`: the embedded models."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from burnish.cli.console import Streams
from burnish.cli.options import Json
from burnish.cli.parser import Commands

models = typer.Typer(help="List and get the embedded models.", cls=Commands)


@models.callback(invoke_without_command=True)
def group(context: typer.Context) -> None:
    """Without a command, help is shown."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@models.command("list")
def list_models(context: typer.Context, json_output: Json = False) -> None:
    """Show the embedded models, and which of them are here."""
    from burnish.models.local.pull import KNOWN, installed  # noqa: PLC0415

    streams: Streams = context.obj
    here = {model.name: str(model.path) for model in installed()}
    rows: list[dict[str, Any]] = [
        {
            "name": f"local/{known.name}",
            "size_bytes": known.size_bytes,
            "licence": known.licence,
            "path": here.get(known.name),
        }
        for known in KNOWN.values()
    ]
    if json_output:
        streams.print_document({"models": rows})
        return
    for row in rows:
        place = row["path"] or f"not here: burnish models pull {row['name'].partition('/')[2]}"
        streams.say(
            f"{row['name']}  {row['size_bytes'] // 1_000_000} MB  {row['licence']}  {place}"
        )


@models.command()
def pull(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Such as smollm2-135m.", show_default=False)],
    json_output: Json = False,
) -> None:
    """Download an embedded model, check it and keep it in the user's cache."""
    from burnish.models.local import pull as pulling  # noqa: PLC0415

    streams: Streams = context.obj
    path = pulling.pull(
        name.removeprefix("local/"),
        progress=lambda line: streams.messages.print(line, soft_wrap=True),
    )
    if json_output:
        streams.print_document({"name": name, "path": str(path)})
    else:
        streams.say(str(path))
