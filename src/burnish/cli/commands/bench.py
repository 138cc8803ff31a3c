"""`burnish bench`: benchmarks that anybody can repeat."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from burnish.benchmarks.comparison import Outcome, Plan, compare
from burnish.benchmarks.contestants import REFERENCE, contestants, default_names
from burnish.benchmarks.summary import Standing, document, rivalries, standings
from burnish.benchmarks.wall_time import LATENCY_SECONDS, Pace, measure_paces, pace_ratios
from burnish.benchmarks.worlds import TUNING_SEEDS, WORLDS
from burnish.cli.console import Session
from burnish.cli.options import Json
from burnish.cli.parser import Commands
from burnish.cli.running import termination_interrupts
from burnish.domain import UnavailableError, UsageError

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


_OWN = "gepa"
_WALL_SEEDS = 3


@dataclass(frozen=True, kw_only=True)
class OptimizersRequest:
    """The options as they were given; empty text means the default."""

    worlds: str
    optimizers: str
    seeds: range
    budgets: str
    wall_evaluations: int | None
    processes: int
    output: Path | None


def bench_optimizers(session: Session, request: OptimizersRequest) -> None:
    """Run the comparison, print it, and write it where it was asked for."""
    plan = _plan(request)
    if request.output is not None and not request.output.parent.is_dir():
        raise UsageError(
            what=f"the result cannot be written to {request.output}",
            why="its folder does not exist",
            fix="make the folder, or name another",
            code="invalid_output",
        )

    def notice(line: str) -> None:
        session.messages.print(line, soft_wrap=True)

    with termination_interrupts():
        outcome = compare(plan, notice=notice)
        paces: list[Pace] = []
        if request.wall_evaluations is not None:
            paces, failures = measure_paces(
                _OWN, request.seeds[:_WALL_SEEDS], request.wall_evaluations, notice=notice
            )
            outcome.failures += failures
    result = _document(plan, outcome, paces)
    if request.output is not None:
        text = json.dumps(result, ensure_ascii=False, indent=1)
        request.output.write_text(text + "\n", encoding="utf-8")
    if session.json_output:
        session.print_document(result)
    else:
        _show(session, plan, outcome, paces)
    if not outcome.curves:
        raise UnavailableError(
            what="nothing could be compared",
            why=outcome.failures[0] if outcome.failures else "no run came to an end",
            fix="see the messages above",
        )


def _plan(request: OptimizersRequest) -> Plan:
    worlds = _names(request.worlds) or list(WORLDS)
    unknown = [name for name in worlds if name not in WORLDS]
    if unknown:
        raise UsageError(
            what=f"there is no world {unknown[0]!r}",
            why="it is none of those that come with Burnish",
            fix=f"use some of {', '.join(WORLDS)}",
            code="unknown_world",
        )
    return Plan(
        worlds=worlds,
        contestants=contestants(_names(request.optimizers) or default_names()),
        seeds=request.seeds,
        budgets=_budgets(request.budgets),
        processes=request.processes,
    )


def _budgets(text: str) -> list[int]:
    parts = _names(text)
    if not parts or not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise UsageError(
            what=f"the budgets {text!r} cannot be used",
            why="they are whole numbers above 0, parted by commas",
            fix="give them as in --budgets 700,4000",
            code="invalid_budget",
        )
    return [int(part) for part in parts]


def _names(text: str) -> list[str]:
    return list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def _document(plan: Plan, outcome: Outcome, paces: Sequence[Pace]) -> dict[str, Any]:
    rows = standings(outcome.curves)
    return {
        "worlds": {name: WORLDS[name].about for name in plan.worlds},
        "optimizers": [one.name for one in plan.contestants],
        "seeds": list(plan.seeds),
        "budgets": list(plan.budgets),
        **document(outcome.curves, rows),
        "rivalries": [asdict(one) for one in rivalries(rows, _OWN, REFERENCE)],
        "wall": {
            "latency_seconds": LATENCY_SECONDS,
            "paces": [asdict(one) for one in paces],
            "ratios": pace_ratios(paces),
        }
        if paces
        else None,
        "failures": outcome.failures,
    }


def _show(session: Session, plan: Plan, outcome: Outcome, paces: Sequence[Pace]) -> None:
    rows = standings(outcome.curves)
    names = [one.name for one in plan.contestants]
    for budget in plan.budgets:
        of_budget = [row for row in rows if row.budget == budget]
        print_standings(session.console, of_budget, plan.worlds, names, len(plan.seeds))
    if paces:
        print_paces(session.console, paces, pace_ratios(paces))
    for one in rivalries(rows, _OWN, REFERENCE):
        session.say(
            f"{one.world}, {one.budget:,} calls: {one.optimizer} needs {one.calls_ratio:.2f} times "
            f"the calls of {one.reference} to 90%{' (a bound)' if one.bounded else ''}, "
            f"and ends {one.share_difference:+.3f} from it"
        )
    if any(seed in TUNING_SEEDS for seed in plan.seeds):
        session.say("These seeds are for tuning: do not report them.")
    for failure in outcome.failures:
        session.messages.print(f"not measured: {failure}", soft_wrap=True)


def print_standings(
    console: Console,
    rows: Sequence[Standing],
    worlds: Sequence[str],
    optimizers: Sequence[str],
    seeds: int,
) -> None:
    """What was reached with one budget, how soon, and with how many reflections."""
    if not rows:
        return
    console.print(
        f"Budget of {rows[0].budget:,} calls, medians of {seeds} seeds. "
        "Shares are of the world's maximum; a seed that never got to 90% counts with all calls, "
        "> says that half of them or more did not.",
        soft_wrap=True,
    )
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("world")
    table.add_column("optimizer")
    for column in ("share", "lowest–highest", "calls to 90%", "got there", "reflections", "seeds"):
        table.add_column(column, justify="right")
    by_place = {(row.world, row.optimizer): row for row in rows}
    for world in worlds:
        found = [by_place[world, name] for name in optimizers if (world, name) in by_place]
        for number, row in enumerate(found):
            table.add_row(
                world if number == 0 else "",
                row.optimizer,
                f"{row.share:.3f}",
                f"{row.lowest:.2f}–{row.highest:.2f}",
                f"{'>' if row.never else ''}{row.calls_to_goal:,.0f}",
                f"{row.reached:.0%}",
                f"{row.reflections:,.0f}",
                # Runs that failed are missing in a median: that must not go unseen.
                str(row.seeds) if row.seeds == seeds else f"{row.seeds} of {seeds}",
                end_section=number == len(found) - 1,
            )
    console.print(table)


def print_paces(console: Console, paces: Sequence[Pace], ratios: Mapping[str, float]) -> None:
    """Wall time, and how the last one's stands to the others'."""
    console.print("Wall time with models of 200 ms; ratios are of the time for an evaluation")
    table = Table(box=box.SIMPLE_HEAD)
    columns = ("", "evaluations", "reflections", "seconds", "ms an evaluation", "gepa over it")
    for column in columns:
        table.add_column(column, justify="left" if not column else "right")
    for pace in paces:
        ratio = ratios.get(pace.contestant)
        table.add_row(
            pace.contestant,
            f"{pace.evaluations:,.0f}",
            f"{pace.reflections:,.0f}",
            f"{pace.seconds:.1f}",
            f"{pace.milliseconds_an_evaluation:.1f}",
            "" if ratio is None else f"{ratio:.3f}",
        )
    console.print(table)
