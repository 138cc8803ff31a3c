"""`burnish models`: the embedded models, and what models cost."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import asdict
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer

from burnish.cli.console import Streams
from burnish.cli.options import Config, Json
from burnish.cli.parser import Commands
from burnish.cli.project_location import ProjectLocation

if TYPE_CHECKING:
    from rich.console import Console

    from burnish.models.pricing import ListPrice

models = typer.Typer(help="List, get and serve the embedded models, and show prices.", cls=Commands)
# By name: neither layer knows the other.
_SERVER = "burnish.server.local_models"


@models.callback(invoke_without_command=True)
def group(context: typer.Context) -> None:
    """Without a command, help is shown."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@models.command("list")
def list_models(context: typer.Context, json_output: Json = False) -> None:
    """Show the embedded models, and which of them are here."""
    from burnish.models.local.catalog import KNOWN  # noqa: PLC0415
    from burnish.models.local.pull import installed  # noqa: PLC0415

    streams: Streams = context.obj
    here = installed()
    rows: list[dict[str, Any]] = [
        {
            "name": known.name if known.embeds else f"local/{known.name}",
            "size_bytes": known.size_bytes,
            "licence": known.licence,
            "context_tokens": known.context_tokens,
            "path": str(here[known.name]) if known.name in here else None,
        }
        for known in KNOWN.values()
    ]
    if json_output:
        streams.print_document({"models": rows})
        return
    for row in rows:
        place = row["path"] or f"not here: burnish models pull {row['name'].removeprefix('local/')}"
        streams.say(
            f"{row['name']}  {row['size_bytes'] // 1_000_000} MB  {row['licence']}  "
            f"{row['context_tokens']} tokens  {place}"
        )


@models.command()
def pull(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            help="Such as smollm2-135m, qwen2.5-coder-1.5b or all-minilm-l6-v2.", show_default=False
        ),
    ],
    json_output: Json = False,
) -> None:
    """Download an embedded model, check it and keep it in the user's cache."""
    from burnish.models.local import pull as pulling  # noqa: PLC0415

    streams: Streams = context.obj
    model = name.removeprefix("local/")
    if json_output:
        path = pulling.pull(model)
        streams.print_document({"name": name, "path": str(path)})
        return
    with showing_bytes(streams.messages, pulling.known_model(model).size_bytes) as received:
        path = pulling.pull(
            model,
            progress=lambda line: streams.messages.print(line, soft_wrap=True),
            received=received,
        )
    streams.say(str(path))


@models.command()
def serve(
    context: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Models, or .gguf files; else all that are here."),
    ] = None,
    port: Annotated[
        int, typer.Option("--port", "-p", min=0, max=65535, help="The port; 0 picks a free one.")
    ] = 8730,
    workers: Annotated[
        int | None, typer.Option(min=1, max=64, help="Processes of each model.")
    ] = None,
) -> None:
    """Serve embedded models to other tools on this machine, as an OpenAI-compatible endpoint."""
    from burnish.domain import UsageError  # noqa: PLC0415
    from burnish.models.settings import ModelSettings  # noqa: PLC0415

    streams: Streams = context.obj
    given = tuple(name.removeprefix("local/") for name in names or _writing())
    if not given:
        raise UsageError(
            what="no model can be served",
            why="none is here",
            fix="run: burnish models pull smollm2-135m",
            code="model_missing",
        )

    def listening(address: str) -> None:
        streams.say(f"{', '.join(given)} at {address}/v1, no key", "stop it with Ctrl-C")
        streams.out.flush()

    import_module(_SERVER).run(given, port, ModelSettings(workers=workers), listening)


def _writing() -> list[str]:
    from burnish.models.local.catalog import WRITING  # noqa: PLC0415
    from burnish.models.local.pull import installed  # noqa: PLC0415

    return [name for name in installed() if name in WRITING]


@models.command()
def prices(
    context: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Models, such as openai/gpt-4o-mini."),
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Fetch the tables of today and keep them.")
    ] = False,
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="PLACE",
            help="Update from this file or address.",
            show_default="where genai-prices publishes them",
        ),
    ] = None,
    json_output: Json = False,
    config: Config = None,
) -> None:
    """Show what models cost and who says so; without names, which tables are in use."""
    from burnish.models.price_tables import current_tables, update_tables  # noqa: PLC0415

    streams: Streams = context.obj
    tables = update_tables(source) if update or source else current_tables()
    found = [_list_price(name, ProjectLocation.of(context, config, None)) for name in names or ()]
    if json_output:
        vendors = len(tables.snapshot.providers)
        known = {"source": tables.source, "fetched_at": tables.fetched_at, "vendors": vendors}
        told = [asdict(price) for price in found]
        streams.print_document({"tables": {**known, "note": tables.note}, "prices": told})
        return
    for price in found:
        streams.say(_price_line(price))
    if not names:
        streams.say(f"{tables.source}: {len(tables.snapshot.providers)} vendors")
    if tables.note:
        streams.messages.print(tables.note, soft_wrap=True)


def _list_price(name: str, location: ProjectLocation) -> ListPrice:
    """By the settings of the project, where there is one."""
    from burnish.config.settings import model_settings  # noqa: PLC0415
    from burnish.models.pricing import list_price  # noqa: PLC0415

    tables = location.settings().models if location.config.exists() else {}
    return list_price(name, model_settings(tables, name))


def _price_line(price: ListPrice) -> str:
    if price.input_price is None:
        return (
            f"{price.name}  unknown; set input_price and output_price in "
            f'[models."{price.name}"], in USD for a million tokens'
        )
    entry = f", {price.entry}" if price.entry else ""
    return (
        f"{price.name}  ${price.input_price:g} in, ${price.cached_input_price:g} cached, "
        f"${price.output_price:g} out for a million tokens  ({price.source}{entry})"
    )


@contextlib.contextmanager
def showing_bytes(console: Console, total: int) -> Iterator[Callable[[int], None]]:
    """Say how much is here: a bar on a terminal, a line for each tenth elsewhere."""
    if console.is_terminal:
        from rich import progress as shown  # noqa: PLC0415

        columns = (shown.BarColumn(), shown.DownloadColumn(), shown.TransferSpeedColumn())
        with shown.Progress(*columns, console=console) as bar:
            task = bar.add_task("", total=total)
            yield lambda received: bar.update(task, completed=received)
        return
    told = {0}

    def tell(received: int) -> None:
        if (tenth := received * 10 // total) not in told:
            told.add(tenth)
            console.print(f"{received // 1_000_000} of {total // 1_000_000} MB")

    yield tell
