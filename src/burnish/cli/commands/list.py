"""`burnish list`: optimizations and experiments, newest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from burnish.app.evaluate.leases import evaluation_state
from burnish.app.wiring import Workspace
from burnish.cli.console import Streams
from burnish.cli.display.optimizations.status import (
    optimization_listing_json,
    print_optimizations,
)
from burnish.cli.display.rows import add_columns
from burnish.cli.options import Config, Db, Json
from burnish.cli.project_location import ProjectLocation
from burnish.cli.running import run
from burnish.cli.wording import age, harmless, percent, short_id
from burnish.domain import Experiment, ExperimentStatus, ExperimentSummary, OptimizationRecord

_STYLES = {
    ExperimentStatus.COMPLETED: "green",
    ExperimentStatus.FAILED: "red",
    ExperimentStatus.RUNNING: "cyan",
}


class Kind(StrEnum):
    """What can be listed."""

    ALL = "all"
    OPTIMIZATIONS = "optimizations"
    EXPERIMENTS = "experiments"


def list_all(
    context: typer.Context,
    kind: Annotated[Kind, typer.Option(help="Which of them.")] = Kind.ALL,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, help="At most so many of each.")
    ] = 20,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """List optimizations and experiments, newest first.

    Experiments that an optimization ran belong to it: `burnish show ID --trials` lists them.
    """
    streams: Streams = context.obj
    location = ProjectLocation.of(context, config, db)
    optimizations, experiments = (
        run(_read(location, kind, limit)) if location.has_database else ([], [])
    )
    if streams.json_output:
        document: dict[str, Any] = {}
        if kind is not Kind.EXPERIMENTS:
            document["optimizations"] = [optimization_listing_json(one) for one in optimizations]
        if kind is not Kind.OPTIMIZATIONS:
            document["experiments"] = [listing_json(one) for one in experiments]
        streams.print_document(document)
        return
    console = streams.console
    if optimizations:
        print_optimizations(console, optimizations)
    if experiments:
        print_listing(console, experiments)
    if not optimizations and not experiments:
        noun = "optimizations" if kind is Kind.OPTIMIZATIONS else "experiments"
        command = "burnish optimize" if kind is Kind.OPTIMIZATIONS else "burnish eval"
        console.print(f"no {noun} yet; `{command}` makes one, `burnish init` an example")


async def _read(
    location: ProjectLocation, kind: Kind, limit: int
) -> tuple[list[OptimizationRecord], list[Listed]]:
    async with location.read() as workspace:
        optimizations: list[OptimizationRecord] = []
        experiments: list[Listed] = []
        if kind is not Kind.EXPERIMENTS:
            optimizations = await workspace.optimizations.list_optimizations(limit=limit)
        if kind is not Kind.OPTIMIZATIONS:
            experiments = await read_experiments(workspace, limit)
        return optimizations, experiments


@dataclass(frozen=True, slots=True)
class Listed:
    """An experiment with what its results come to."""

    experiment: Experiment
    summary: ExperimentSummary
    state: str


async def read_experiments(workspace: Workspace, limit: int) -> list[Listed]:
    """The newest experiments that were run for themselves and not for an optimization."""
    found = await workspace.experiments.list_experiments(limit=limit, standalone=True)
    return [
        Listed(
            one,
            await workspace.experiments.summarise(one.id),
            await evaluation_state(workspace, one),
        )
        for one in found
    ]


def listing_json(listed: Listed) -> dict[str, Any]:
    """One experiment as `list --json` prints it."""
    experiment, summary = listed.experiment, listed.summary
    return {
        "experiment_id": experiment.id,
        "name": experiment.name,
        "type": experiment.type.value,
        "status": experiment.status.value,
        "state": listed.state,
        "agent": experiment.agent_name,
        "suite": experiment.suite_name,
        "score": summary.score if summary.measured else None,
        "pass_rate": summary.pass_rate if summary.measured else None,
        "items": summary.runs,
        "planned_items": experiment.planned_items,
        "errors": summary.errors,
        "cost_usd": summary.cost_usd,
        "created_at": experiment.created_at,
    }


def print_listing(console: Console, rows: Sequence[Listed]) -> None:
    """The table."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="experiments", title_justify="left")
    columns = add_columns(console, table, ("score", "passed", "items", "age"), "score")
    for row in rows:
        experiment, summary = row.experiment, row.summary
        planned = experiment.planned_items
        part = "" if planned in (None, summary.runs) else f"/{planned:,}"
        status = experiment.status
        scored = summary.measured and summary.score is not None
        cells: dict[str, Text | str] = {
            "id": short_id(experiment.id),
            "name": Text(harmless(experiment.name)),
            "status": Text(row.state, style=_STYLES.get(status, "yellow")),
            "score": f"{summary.score:.3f}" if scored else "",
            "passed": "" if summary.pass_rate is None else percent(summary.pass_rate),
            "items": f"{summary.runs:,}{part}",
            "age": age(experiment.created_at),
        }
        table.add_row(*(cells[column] for column in columns))
    console.print(table)
