"""One stored experiment, printed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.text import Text

from burnish.app.evaluate.result import EvaluationResult, result_of
from burnish.app.wiring import Workspace
from burnish.cli.console import Session
from burnish.cli.display.failing_items import print_failing, worst_items
from burnish.cli.display.results import print_result, print_summary
from burnish.cli.display.rows import print_indented, print_rows
from burnish.cli.exports.records import Record, stream_records
from burnish.cli.project_location import Place
from burnish.cli.views import Views
from burnish.cli.wording import harmless, one_line
from burnish.domain import Configuration, Experiment


@dataclass(slots=True)
class _Mean:
    total: float = 0.0
    runs: int = 0

    def add(self, value: float) -> None:
        self.total += value
        self.runs += 1


@dataclass(slots=True)
class _Details:
    result: EvaluationResult
    scorers: dict[str, _Mean] = field(default_factory=dict)
    records: list[Record] | None = None


async def show_experiment(
    session: Session, place: Place, workspace: Workspace, experiment: Experiment, views: Views
) -> None:
    """Print an experiment, with all of its items or those that failed when asked."""
    items, failing = views.items, views.failing
    details = _Details(await result_of(workspace.experiments, experiment.id))
    await _read(workspace, details, keep=items or failing, failing_only=failing and not items)
    if session.json_output:
        session.print_document(_document(details))
        return
    worst = [] if items or failing else await worst_items(workspace, experiment)
    _print(session.console, details)
    if items or failing:
        print_summary(session.console, details.result)
        session.console.print()
        _print_records(session.console, details.records or [])
    else:
        print_result(session.console, details.result, worst, place)


async def _read(workspace: Workspace, details: _Details, *, keep: bool, failing_only: bool) -> None:
    details.records = [] if keep else None
    async for record in stream_records(workspace, details.result.experiment):
        for score in record.result.scores:
            details.scorers.setdefault(score.name, _Mean()).add(score.value)
        if details.records is not None and not (failing_only and record.result.passed):
            details.records.append(record)


def _document(details: _Details) -> dict[str, Any]:
    experiment = details.result.experiment
    document = {
        **details.result.to_json(),
        "name": experiment.name,
        "type": experiment.type.value,
        "agent": experiment.agent_name,
        "suite": experiment.suite_name,
        "planned_items": experiment.planned_items,
        "created_at": experiment.created_at,
        "configuration": experiment.configuration.to_json(),
        "configuration_hash": experiment.configuration.hash,
        "metadata": dict(experiment.metadata),
        "scorers": {name: mean.total / mean.runs for name, mean in details.scorers.items()},
    }
    if details.records is not None:
        document["results"] = [record.to_json() for record in details.records]
    return document


def _print(console: Console, details: _Details) -> None:
    experiment = details.result.experiment
    model = experiment.metadata.get("model")
    where = f" on {harmless(str(model))}" if model else ""
    name = harmless(experiment.agent_name)
    console.print(Text.assemble(("agent ", "dim"), (name, "bold"), where))
    _print_configuration(console, experiment.configuration)
    if len(details.scorers) > 1:
        means = details.scorers.items()
        console.print(Text("mean by scorer", style="dim"))
        print_rows(console, [(name, Text(f"{one.total / one.runs:.3f}")) for name, one in means])
    console.print()


def _print_configuration(console: Console, configuration: Configuration) -> None:
    for path, text in configuration.sections.items():
        console.print(Text(f"  {path}", style="cyan"))
        print_indented(console, Text(harmless(text)), 4)
    for name, value in configuration.parameters.items():
        console.print(Text.assemble((f"  {name} ", "cyan"), one_line(repr(value), 200)))
    if configuration.examples:
        console.print(Text(f"  {len(configuration.examples)} examples", style="cyan"))


def _print_records(console: Console, records: list[Record]) -> None:
    if not records:
        console.print("  none")
    print_failing(console, [record.as_shown() for record in records])
