"""`burnish synthesize`: rows that a model writes, for training."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from burnish.app.datasets.synthetic import RowRequest, SyntheticRows, make_rows, read_documents
from burnish.app.wiring import Workspace, build_agent, build_suite
from burnish.cli.commands.datasets.trace_rows import rows_text
from burnish.cli.commands.init import require_free, write_files
from burnish.cli.console import Streams
from burnish.cli.options import Config, Db, Json
from burnish.cli.project_location import ProjectLocation
from burnish.cli.running import run
from burnish.cli.wording import harmless, money
from burnish.domain import UsageError
from burnish.domain.wording import counted


def synthesize(
    context: typer.Context,
    *,
    model: Annotated[
        str, typer.Option(help="Who writes them, such as openai/gpt-4o.", show_default=False)
    ],
    number: Annotated[int, typer.Option("--number", "-n", min=1, help="How many.")] = 20,
    rules: Annotated[
        Path | None, typer.Option(help="A file with what the rows must show.", show_default=False)
    ] = None,
    documents: Annotated[
        list[Path] | None,
        typer.Option(
            help="A file or folder of text that rows are about. Repeatable.", show_default=False
        ),
    ] = None,
    hard: Annotated[
        int,
        typer.Option(
            min=0,
            help="Ask the agent so often about each row, and put those first on which it disagrees.",
        ),
    ] = 0,
    seed: Annotated[int, typer.Option(help="Decides which rows are shown to the model.")] = 0,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE.jsonl", help="Where they go.")
    ] = Path("synthetic.jsonl"),
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Let a model write rows for training, unlike those there are.

    They are marked `synthetic` and are never in the validation or test split.
    """
    streams: Streams = context.obj
    require_free(output.parent, [output.name], force=force, other="another file with --output")
    request = RowRequest(
        number=number,
        rules="" if rules is None else "\n".join(text for _, text in read_documents([rules])),
        documents=read_documents(documents or ()),
        hard=hard,
        seed=seed,
    )
    made = run(_make(ProjectLocation.of(context, config, db), model, request))
    if not made.rows:
        raise UsageError(
            what="no row was written",
            why="; ".join(f"{why}: {times}" for why, times in made.refused.items())
            or "the model wrote none",
            fix="use a larger model, or give --rules or --documents",
            code="empty_dataset",
        )
    write_files(output.parent, {output.name: rows_text(made.rows).encode("utf-8", "replace")})
    _tell(streams, made, output)


async def _make(location: ProjectLocation, model: str, request: RowRequest) -> SyntheticRows:
    settings = location.settings()
    async with Workspace.open(location.database, models=settings.models) as workspace:
        suite = build_suite(settings.suite_spec(), workspace.model)
        agent = build_agent(settings.agent_spec(), workspace.model)
        try:
            return await make_rows(suite, agent, workspace.model(model), request)
        finally:
            await agent.close()


def _tell(streams: Streams, made: SyntheticRows, output: Path) -> None:
    usage = made.spending.total
    if streams.json_output:
        streams.print_document(
            {
                "file": str(output.absolute()),
                "rows": len(made.rows),
                "refused": dict(made.refused),
                "usage": made.spending.to_json(),
            }
        )
        return
    cost = "cost unknown" if usage.cost_usd is None else money(usage.cost_usd)
    spent = f"{counted(usage.calls, 'call')}, {cost}"
    streams.say(f"{counted(len(made.rows), 'row')} in {harmless(str(output))}: {spent}")
    streams.say(*(f"- refused: {times:,} {why}" for why, times in made.refused.items()))
    streams.say("look at them, then add them to the dataset: they are for training only")
