"""`burnish bench`: measurements that anybody can repeat."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from burnish.cli.options import Json
from burnish.cli.usage_mistakes import Commands

bench = typer.Typer(
    help="Run a benchmark: `burnish bench optimizers` compares optimizers.", cls=Commands
)


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
    from burnish.cli.benching import OptimizersRequest, bench_optimizers  # noqa: PLC0415

    request = OptimizersRequest(
        worlds=worlds,
        optimizers=names,
        seeds=range(first_seed, first_seed + seeds),
        budgets=budgets,
        wall_evaluations=wall_evaluations if wall else None,
        processes=processes,
        output=output,
    )
    bench_optimizers(context.obj, request)
