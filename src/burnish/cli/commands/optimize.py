"""`burnish optimize`: search for a better configuration."""

from __future__ import annotations

from typing import Annotated

import typer

from burnish.cli.optimize_request import OptimizeRequest
from burnish.cli.options import Config, Db, Json
from burnish.cli.project_location import Place
from burnish.cli.runner_options import Mailbox, RayAddress, Runner, RunnerOptions

_SEARCH, _BUDGET, _AGENT = "How to search", "What it may spend", "Which configuration"


def optimize(
    context: typer.Context,
    *,
    optimizer: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The algorithm: edits, few_shot, random, grid, or one of an installed package.",
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(help="Equal seeds search alike.", rich_help_panel=_SEARCH),
    ] = None,
    racing: Annotated[
        str | None,
        typer.Option(
            metavar="MODE",
            help="End trials that cannot reasonably win: off, conservative or aggressive.",
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    candidates_per_step: Annotated[
        int | None,
        typer.Option(min=1, help="Candidates tried side by side.", rich_help_panel=_SEARCH),
    ] = None,
    max_trials: Annotated[
        int | None,
        typer.Option(min=0, help="Candidates tried on all items.", rich_help_panel=_BUDGET),
    ] = None,
    max_evaluations: Annotated[
        int | None, typer.Option(min=0, help="Item runs.", rich_help_panel=_BUDGET)
    ] = None,
    max_calls: Annotated[
        int | None, typer.Option(min=0, help="Model calls.", rich_help_panel=_BUDGET)
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(min=0, help="Tokens in and out.", rich_help_panel=_BUDGET)
    ] = None,
    max_cost: Annotated[
        float | None,
        typer.Option(min=0, metavar="USD", help="US dollars.", rich_help_panel=_BUDGET),
    ] = None,
    max_seconds: Annotated[
        float | None, typer.Option(min=0, help="Seconds.", rich_help_panel=_BUDGET)
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="Another model, such as openai/gpt-4o-mini.", rich_help_panel=_AGENT),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Override the config, such as optimizer.patience=4. Repeatable.",
            rich_help_panel=_AGENT,
        ),
    ] = None,
    section: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH=TEXT",
            help="Another text to start from; PATH=@FILE reads it from a file. Repeatable.",
            rich_help_panel=_AGENT,
        ),
    ] = None,
    refine: Annotated[
        bool | None,
        typer.Option(
            "--refine/--no-refine",
            help="Refine outputs of trials as [suite.refine] says; off unless it has trials = true.",
            rich_help_panel=_SEARCH,
            show_default=False,
        ),
    ] = None,
    mirror: Annotated[
        str | None,
        typer.Option(
            metavar="opik",
            help="Show the run on an Opik server too, as [mirror] in the config says.",
        ),
    ] = None,
    concurrency: Annotated[int | None, typer.Option(min=1, help="Items at once.")] = None,
    name: Annotated[str | None, typer.Option(help="A name for the optimization.")] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Print what it would run and cost, and call nothing."),
    ] = False,
    runner: Runner = None,
    mailbox: Mailbox = None,
    ray_address: RayAddress = None,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Search for a better configuration, and prove it on items the search never saw.

    State is saved as it goes: after Ctrl-C or a crash, `burnish resume` goes on. Options win over
    BURNISH_* variables, and those over burnish.toml. Exit code 130 says that it was stopped.
    """
    request = OptimizeRequest(
        optimizer=optimizer,
        seed=seed,
        racing=racing,
        candidates_per_step=candidates_per_step,
        max_trials=max_trials,
        max_evaluations=max_evaluations,
        max_calls=max_calls,
        max_tokens=max_tokens,
        max_cost=max_cost,
        max_seconds=max_seconds,
        model=model,
        settings=tuple(set_ or ()),
        sections=tuple(section or ()),
        refine=refine,
        mirror=mirror,
        concurrency=concurrency,
        name=name,
        dry_run=dry_run,
        runner=RunnerOptions(runner=runner, mailbox=mailbox, ray_address=ray_address),
    )
    from burnish.cli.optimizing import optimize_request  # noqa: PLC0415

    code = optimize_request(context.obj, Place.of(context, config, db), request)
    raise typer.Exit(code)
