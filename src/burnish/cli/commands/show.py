"""`burnish show`: one experiment or optimization."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from burnish.app.evaluate.records import Record, stream_records
from burnish.app.evaluate.result import EvaluationResult, result_of
from burnish.app.optimize.result import OptimizationResult
from burnish.app.optimize.run_spec import ranked
from burnish.app.references import LATEST, resolve_any
from burnish.app.report.runs.evidence import collapse_warnings
from burnish.app.report.runs.waiting import read_waiting
from burnish.app.wiring import Workspace
from burnish.cli.console import Streams
from burnish.cli.display.evaluation import (
    FailingItem,
    print_failing,
    print_result,
    print_summary,
    worst_items,
)
from burnish.cli.display.optimizations.records import (
    event_json,
    print_events,
    print_rejections,
    print_tree,
    print_trials,
    rejection_json,
    tree_json,
    trial_json,
)
from burnish.cli.display.optimizations.results import print_front, print_search_result
from burnish.cli.display.optimizations.status import (
    print_unfinished,
    print_version,
    summary_json,
    waiting_rows,
)
from burnish.cli.display.rows import print_indented, print_rows
from burnish.cli.options import Config, Db, Json
from burnish.cli.project_location import ProjectLocation
from burnish.cli.running import run
from burnish.cli.wording import harmless, one_line, short_id
from burnish.domain import (
    Candidate,
    Configuration,
    Event,
    Experiment,
    OptimizationRecord,
    TrialResult,
    UsageError,
)
from burnish.domain.wording import counted
from burnish.evaluation.scorers.judge import NOT_JUDGED
from burnish.optimization.objective import points_of
from burnish.optimization.outcome import front_json

_EXPERIMENT, _OPTIMIZATION = "Of an experiment", "Of an optimization"
_PAGE = 1000


def show(
    context: typer.Context,
    reference: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help="An experiment's or optimization's id, a part of it, its name, or `latest`.",
            show_default=False,
        ),
    ] = LATEST,
    *,
    items: Annotated[
        bool, typer.Option("--items", help="Every item.", rich_help_panel=_EXPERIMENT)
    ] = False,
    failing: Annotated[
        bool,
        typer.Option("--failing", help="Every item that failed.", rich_help_panel=_EXPERIMENT),
    ] = False,
    trials: Annotated[
        bool, typer.Option("--trials", help="Every trial.", rich_help_panel=_OPTIMIZATION)
    ] = False,
    graph: Annotated[
        bool,
        typer.Option(
            "--graph",
            help="Which candidate came from which, as a tree; nodes and edges with --json.",
            rich_help_panel=_OPTIMIZATION,
        ),
    ] = False,
    rejections: Annotated[
        bool,
        typer.Option(
            "--rejections", help="Proposals that were not run.", rich_help_panel=_OPTIMIZATION
        ),
    ] = False,
    events: Annotated[
        bool,
        typer.Option("--events", help="What happened when.", rich_help_panel=_OPTIMIZATION),
    ] = False,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Show an experiment or an optimization: its numbers, its configuration, what came out."""

    views = Views(
        items=items,
        failing=failing,
        trials=trials,
        graph=graph,
        rejections=rejections,
        events=events,
    )
    show_any(context.obj, ProjectLocation.of(context, config, db), reference, views)


@dataclass(frozen=True, slots=True, kw_only=True)
class Views:
    """The options of `burnish show`; with none of them the summary is shown."""

    items: bool = False
    failing: bool = False
    trials: bool = False
    graph: bool = False
    rejections: bool = False
    events: bool = False

    @property
    def of_experiment(self) -> tuple[str, ...]:
        """The given options that only experiments have."""
        return self._given("items", "failing")

    @property
    def of_optimization(self) -> tuple[str, ...]:
        """The given options that only optimizations have."""
        return self._given("trials", "graph", "rejections", "events")

    def _given(self, *names: str) -> tuple[str, ...]:
        return tuple(f"--{name}" for name in names if getattr(self, name))


def show_any(streams: Streams, location: ProjectLocation, reference: str, views: Views) -> None:
    """Print whichever is meant."""
    run(_show(streams, location, reference, views))


async def _show(streams: Streams, location: ProjectLocation, reference: str, views: Views) -> None:
    async with location.read() as workspace:
        found = await resolve_any(workspace, reference)
        if isinstance(found, Experiment):
            if views.of_optimization:
                raise _misplaced(views.of_optimization[0], found.id, "an experiment", _home(found))
            await show_experiment(streams, location, workspace, found, views)
            return
        if views.of_experiment:
            fix = await _best_experiment(workspace, location, found, views.of_experiment[0])
            raise _misplaced(views.of_experiment[0], found.id, "an optimization", fix)
        await show_optimization(streams, location, workspace, found, views)


def _home(experiment: Experiment) -> str:
    if experiment.optimization_id is None:
        return "leave it out, or name an optimization that `burnish list` shows"
    return f"it belongs to optimization {experiment.optimization_id}: name that"


async def _best_experiment(
    workspace: Workspace, location: ProjectLocation, record: OptimizationRecord, option: str
) -> str:
    for trial in await workspace.optimizations.list_trials(record.id):
        if trial.candidate_id == record.best_candidate_id:
            command = location.command("show", short_id(trial.experiment_id), option)
            return f"for the best candidate: {command}"
    return "name an experiment"


def _misplaced(option: str, identifier: str, kind: str, fix: str) -> UsageError:
    return UsageError(
        what=f"{option} cannot be shown",
        why=f"{identifier} is {kind}, which has none",
        fix=fix,
        code="bad_usage",
    )


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
    waiting: Sequence[Mapping[str, Any]] = ()


async def show_experiment(
    streams: Streams,
    location: ProjectLocation,
    workspace: Workspace,
    experiment: Experiment,
    views: Views,
) -> None:
    """Print an experiment, with all of its items or those that failed when asked."""
    items, failing = views.items, views.failing
    details = _Details(await result_of(workspace.experiments, experiment.id))
    if not experiment.status.final:
        details.waiting = await read_waiting(workspace, experiment.id)
    await _read(workspace, details, keep=items or failing, failing_only=failing and not items)
    if streams.json_output:
        streams.print_document(_document(details))
        return
    worst = [] if items or failing else await worst_items(workspace, experiment)
    _print(streams.console, details)
    if items or failing:
        print_summary(streams.console, details.result)
        streams.console.print()
        _print_records(streams.console, details.records or [])
    else:
        print_result(streams.console, details.result, worst, location)


async def _read(workspace: Workspace, details: _Details, *, keep: bool, failing_only: bool) -> None:
    details.records = [] if keep else None
    async for record in stream_records(workspace, details.result.experiment):
        for score in record.result.scores:
            if score.error != NOT_JUDGED:
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
        "waiting": list(details.waiting),
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
    print_rows(console, waiting_rows(details.waiting))
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
        console.print(Text(f"  {counted(len(configuration.examples), 'example')}", style="cyan"))


def _print_records(console: Console, records: list[Record]) -> None:
    if not records:
        console.print("  none")
    print_failing(console, [FailingItem(one.result, one.fields, one.rounds) for one in records])


async def show_optimization(
    streams: Streams,
    location: ProjectLocation,
    workspace: Workspace,
    record: OptimizationRecord,
    views: Views,
) -> None:
    """Print it."""
    if not views.of_optimization:
        await _show_summary(streams, location, workspace, record)
        return
    document: dict[str, Any] = {}
    console = streams.console
    if views.trials or views.graph:
        candidates = await workspace.optimizations.list_candidates(record.id)
        trials = await workspace.optimizations.list_trials(record.id, mini_batches=True)
        if streams.json_output:
            document.update(_candidates_json(record, candidates, trials, views))
        else:
            _print_candidates(console, record, candidates, trials, views)
    if views.rejections:
        rejections = await workspace.optimizations.list_rejections(record.id)
        document["rejections"] = [rejection_json(one) for one in rejections]
        if not streams.json_output:
            print_rejections(console, rejections)
    if views.events:
        events = await _all_events(workspace, record.id)
        document["events"] = [event_json(one) for one in events]
        if not streams.json_output:
            print_events(console, events)
    if streams.json_output:
        streams.print_document(document)


async def _show_summary(
    streams: Streams, location: ProjectLocation, workspace: Workspace, record: OptimizationRecord
) -> None:
    active = await workspace.agents.active_version(record.agent_name)
    trials = await workspace.optimizations.list_trials(record.id)
    candidates = await workspace.optimizations.list_candidates(record.id)
    by_id = {one.id: one for one in candidates}
    points = points_of(trials, by_id)
    ranking = ranked(record, points)
    front = front_json(ranking, points)
    waiting = [] if record.status.final else await read_waiting(workspace, record.id)
    if streams.json_output:
        streams.print_document(summary_json(record, active, front, waiting))
        return
    if record.result is not None:
        result = OptimizationResult(
            record=record, document=record.result, candidates=by_id, trials=trials
        )
        warnings = await collapse_warnings(workspace, record)
        print_search_result(streams.console, result, location, warnings)
    else:
        print_unfinished(streams.console, record, by_id, trials, location, waiting)
        if ranking.objective.measures and front:
            print_front(streams.console, front, record.best_candidate_id)
    if active is not None:
        print_version(streams.console, active, record, by_id)


def _candidates_json(
    record: OptimizationRecord,
    candidates: list[Candidate],
    trials: list[TrialResult],
    views: Views,
) -> dict[str, Any]:
    document: dict[str, Any] = {}
    if views.trials:
        by_id = {one.id: one for one in candidates}
        document["trials"] = [trial_json(one, by_id[one.candidate_id]) for one in trials]
    if views.graph:
        document.update(tree_json(record, candidates, trials))
    return document


def _print_candidates(
    console: Console,
    record: OptimizationRecord,
    candidates: list[Candidate],
    trials: list[TrialResult],
    views: Views,
) -> None:
    if views.trials:
        print_trials(console, record, candidates, trials)
    if views.graph:
        print_tree(console, record, candidates, trials)


async def _all_events(workspace: Workspace, optimization_id: str) -> list[Event]:
    found: list[Event] = []
    while True:
        after = found[-1].sequence if found else 0
        some = await workspace.optimizations.list_events(optimization_id, after=after, limit=_PAGE)
        found.extend(some)
        if len(some) < _PAGE:
            return found
