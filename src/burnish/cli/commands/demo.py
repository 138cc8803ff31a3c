"""`burnish demo`: the main job on the embedded model."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from burnish.app.report.html.page import write_report
from burnish.cli.commands.init import Template, template_files, write_files
from burnish.cli.console import Streams
from burnish.cli.display.optimizations.progress import showing_search
from burnish.cli.display.optimizations.results import print_search_result
from burnish.cli.display.rows import print_indented, print_steps
from burnish.cli.options import Json
from burnish.cli.project_location import ProjectLocation
from burnish.cli.running import run
from burnish.cli.search import SearchOutcome, SearchWatch, start
from burnish.cli.wording import harmless
from burnish.config.schema import Settings
from burnish.config.settings import load_settings
from burnish.domain import Configuration
from burnish.models.local.pull import pull

_MODEL = "smollm2-135m"


def demo(
    context: typer.Context,
    folder: Annotated[
        Path, typer.Option("--folder", metavar="FOLDER", help="Where the example is put.")
    ] = Path(".burnish") / "demo",
    seed: Annotated[int, typer.Option(help="Another seed searches another way.")] = 0,
    json_output: Json = False,
) -> None:
    """Make a prompt better on a real model inside Burnish, and prove it on held-out reviews.

    It needs no key and no server, and takes a few minutes. The model is downloaded once if it is
    not here (98 MB).
    """
    streams: Streams = context.obj
    write_files(folder, template_files(Template.REVIEWS))
    pull(_MODEL, progress=lambda line: streams.messages.print(line, soft_wrap=True))
    location = ProjectLocation(folder / "burnish.toml", None, folder)
    settings = load_settings(location.config, {"optimizer.seed": seed})
    _introduce(streams.messages, settings)
    watch = SearchWatch(budget=settings.budget_spec())
    started = time.monotonic()
    with showing_search(streams.messages, watch):
        outcome = run(
            start(location.database, settings, watch, name=f"demo, seed {seed}"),
            note=lambda: watch.kept(location),
        )
    seconds = time.monotonic() - started
    report = run(_report(location, outcome, folder))
    if streams.json_output:
        streams.print_document({**outcome.result.to_json(), "report": str(report)})
        return
    console = streams.console
    print_search_result(console, outcome.result, location, outcome.warnings, seconds=seconds)
    print_steps(console, [("burnish init my-project", "this example, to change")])
    console.print()
    console.print(Text.assemble(("the whole story: ", "bold"), str(report)), soft_wrap=True)


def _introduce(console: Console, settings: Settings) -> None:
    console.print(
        Text("SmolLM2-135M, a real model inside Burnish, sorts movie reviews by this prompt:"),
        soft_wrap=True,
    )
    for path, text in Configuration.of(settings.agent_spec().configuration).sections.items():
        print_indented(console, Text.assemble((f"{path:<7}", "cyan"), harmless(text)), 2)
    console.print(
        Text("Burnish looks for a better one. Ctrl-C stops it; nothing is lost.", style="dim"),
        soft_wrap=True,
    )


async def _report(location: ProjectLocation, outcome: SearchOutcome, folder: Path) -> Path:
    async with location.read() as workspace:
        return await write_report(workspace, outcome.result.optimization_id, folder / "report.html")
