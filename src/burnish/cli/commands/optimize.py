"""`burnish optimize`: search for a better configuration."""

from __future__ import annotations

import time
from collections.abc import Coroutine
from typing import Annotated, Any

import typer

from burnish.cli.agent_version import AgentVersionOption, version_to_run
from burnish.cli.commands.mirror import mirror_lines
from burnish.cli.console import Streams
from burnish.cli.display.optimizations.plan import show_plan
from burnish.cli.display.optimizations.progress import showing_search
from burnish.cli.display.optimizations.results import print_search_result
from burnish.cli.options import (
    Batch,
    Config,
    Db,
    Json,
    Mailbox,
    MaxCalls,
    MaxCost,
    MaxEvaluations,
    MaxSeconds,
    MaxTokens,
    RayAddress,
    Runner,
    assigned,
    given,
)
from burnish.cli.project_location import ProjectLocation
from burnish.cli.running import run
from burnish.cli.search import SearchOutcome, SearchWatch, chosen_runner, start
from burnish.config.schema import Settings
from burnish.config.search import DEFAULT_TRIALS, SearchSpec, limited
from burnish.domain import OptimizationStatus

_SEARCH, _BUDGET, _AGENT = "How to search", "What it may spend", "Which configuration"
_STOPPED_BY_SOMEBODY = 130


def optimize(
    context: typer.Context,
    *,
    optimizer: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The algorithm: auto, bootstrap, compress, edits, evolve, few_shot, gepa, "
            "gepa_reference, grid, joint, meta_prompt, parameters, random, or one of an installed "
            "package. Its own model, if it takes one: --set optimizer.model=openai/gpt-4o.",
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Equal seeds search alike; without one it draws its own.", rich_help_panel=_SEARCH
        ),
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
    max_evaluations: MaxEvaluations = None,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    max_seconds: MaxSeconds = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="Another model of the agent, such as openai/gpt-4o-mini.", rich_help_panel=_AGENT
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Override the config, such as optimizer.model=openai/gpt-4o. Repeatable.",
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
    agent_version: AgentVersionOption = None,
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
    batch: Batch = False,
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
    streams: Streams = context.obj
    location = ProjectLocation.of(context, config, db)
    direct = {
        "optimizer.name": optimizer,
        "optimizer.seed": seed,
        "optimizer.racing": racing,
        "optimizer.candidates_per_step": candidates_per_step,
        "budget.max_trials": max_trials,
        "budget.max_evaluations": max_evaluations,
        "budget.max_calls": max_calls,
        "budget.max_tokens": max_tokens,
        "budget.max_cost_usd": max_cost,
        "budget.max_seconds": max_seconds,
        "agent.model": model,
        "agent.concurrency": concurrency,
        "models.batch": batch or None,
        "suite.refine.trials": refine,
        "mirror.to": mirror,
    }
    overrides = {**assigned(set_, section), **given(direct)}
    settings = _with_a_limit(streams, location.settings(overrides))
    chosen = run(version_to_run(streams, location, settings, agent_version, overrides))
    settings = chosen.settings
    if dry_run:
        run(show_plan(streams, settings))
        return
    for note in SearchSpec.of(settings.optimizer).notes:
        streams.messages.print(note, soft_wrap=True)
    choice = chosen_runner(streams, location, runner, mailbox, ray_address)
    watch = SearchWatch(budget=settings.budget_spec())
    more = {"agent_version": chosen.version, "written": chosen.written.to_json()}
    work = start(location.database, settings, watch, choice, name=name, more=more)
    raise typer.Exit(run_and_present(streams, location, watch, work))


def run_and_present(
    streams: Streams,
    location: ProjectLocation,
    watch: SearchWatch,
    work: Coroutine[Any, Any, SearchOutcome],
) -> int:
    """Run the search, print its result and return the exit code."""
    started = time.monotonic()
    with showing_search(streams.messages, watch):
        outcome = run(work, note=lambda: watch.kept(location))
    seconds = time.monotonic() - started
    result = outcome.result
    if outcome.mirror is not None:
        for line in mirror_lines(outcome.mirror):
            streams.messages.print(line, soft_wrap=True)
    if streams.json_output:
        streams.print_document(result.to_json())
    else:
        print_search_result(streams.console, result, location, outcome.warnings, seconds=seconds)
    cancelled = result.status is OptimizationStatus.CANCELLED
    return _STOPPED_BY_SOMEBODY if cancelled else 0


def _with_a_limit(streams: Streams, settings: Settings) -> Settings:
    within, added = limited(settings)
    if added:
        streams.messages.print(
            f"no budget is given: at most {DEFAULT_TRIALS} trials (--max-trials changes that)",
            soft_wrap=True,
        )
    return within
