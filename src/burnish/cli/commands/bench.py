"""`burnish bench`: benchmarks that anybody can repeat."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from burnish.cli.console import Streams
from burnish.cli.options import Json
from burnish.cli.parser import Commands
from burnish.cli.running import termination_interrupts
from burnish.domain import UnavailableError, UsageError

# By name: neither layer knows the other.
_REPORT = "burnish.benchmarks.optimizers_report"

bench = typer.Typer(
    help="Run a benchmark: `burnish bench optimizers` compares optimizers.", cls=Commands
)
_OWN = "gepa"
_WALL_SEEDS = 3


@bench.callback(invoke_without_command=True)
def group(context: typer.Context) -> None:
    """Without a name, the benchmarks are listed."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@bench.command()
def optimizers(
    context: typer.Context,
    *,
    worlds: Annotated[
        str, typer.Option(metavar="A,B", help="Simulated worlds.", show_default="all")
    ] = "",
    names: Annotated[
        str,
        typer.Option(
            "--optimizers",
            metavar="A,B",
            help="Names of the catalog, gepa_package, gepa_package_merge, dspy_gepa.",
            show_default="the main ones and the peers",
        ),
    ] = "",
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds.")] = 10,
    first_seed: Annotated[
        int, typer.Option(min=0, help="Seeds below 100 are for tuning, others for reports.")
    ] = 4_000,
    budgets: Annotated[
        str, typer.Option(metavar="N,M", help="Calls of the task model, one run each.")
    ] = "700,4000",
    wall: Annotated[
        bool, typer.Option("--wall", help="Also measure wall time with models of 200 ms.")
    ] = False,
    wall_evaluations: Annotated[
        int, typer.Option(min=60, help="Evaluations of a run whose time is measured.")
    ] = 400,
    processes: Annotated[int, typer.Option(min=1, help="Runs at the same time.")] = 2,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write everything as JSON."),
    ] = None,
    json_output: Json = False,
) -> None:
    """Compare optimizers in simulated worlds, where the quality of a prompt is known exactly.

    No model is called: task and reflection models are simulated, every draw is hashed from content and
    seed, and every call is counted. Peers run in environments of their own, which are made once.
    """

    report = import_module(_REPORT)
    streams: Streams = context.obj
    plan = report.make_plan(
        worlds=worlds,
        optimizers=names,
        seeds=range(first_seed, first_seed + seeds),
        budgets=budgets,
        processes=processes,
    )
    if output is not None and not output.parent.is_dir():
        raise UsageError(
            what=f"the result cannot be written to {output}",
            why="its folder does not exist",
            fix="make the folder, or name another",
            code="invalid_output",
        )

    def notice(line: str) -> None:
        streams.messages.print(line, soft_wrap=True)

    with termination_interrupts():
        result = report.run_plan(
            plan, wall_evaluations=wall_evaluations if wall else None, notice=notice
        )
    if output is not None:
        text = json.dumps(result.to_json(), ensure_ascii=False, indent=1)
        output.write_text(text + "\n", encoding="utf-8")
    failures = result.outcome.failures
    if streams.json_output:
        streams.print_document(result.to_json())
    else:
        result.print(streams.console)
        for failure in failures:
            notice(f"not measured: {failure}")
    if not result.outcome.curves:
        raise UnavailableError(
            what="nothing could be compared",
            why=failures[0] if failures else "no run came to an end",
            fix="see the messages above",
        )
