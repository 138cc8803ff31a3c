"""`burnish eval`: run the agent over the suite."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from burnish.app.agents.versions import VersionChoice
from burnish.app.datasets.stored import with_stored_rows
from burnish.app.evaluate.baselines import Baseline, compared_with, read_baseline
from burnish.app.evaluate.evaluations import Evaluation, Selection, keep_batches
from burnish.app.evaluate.reruns import told_apart
from burnish.app.evaluate.result import EvaluationResult
from burnish.app.references import LATEST, resolve
from burnish.app.wiring import Workspace
from burnish.cli.agent_version import AgentVersionOption, version_to_run
from burnish.cli.console import Streams
from burnish.cli.display.evaluation import FailingItem, print_result, worst_items
from burnish.cli.display.evaluation_progress import showing
from burnish.cli.display.rows import print_notice
from burnish.cli.eval_request import EvalRequest, Gate, RefineOptions, check_gates
from burnish.cli.options import (
    Batch,
    Config,
    Db,
    Json,
    MaxCalls,
    MaxCost,
    MaxEvaluations,
    MaxSeconds,
    MaxTokens,
)
from burnish.cli.project_location import ProjectLocation
from burnish.cli.running import run
from burnish.cli.wording import short_id
from burnish.config.schema import Settings
from burnish.domain import Budget, ExperimentStatus
from burnish.domain.wording import counted
from burnish.evaluation.broken_items import RERUNS
from burnish.evaluation.outages import nothing_worked
from burnish.evaluation.progress import Progress
from burnish.evaluation.runner import RunOptions

_OPTIONAL_VALUE = ("--filter-failing", "--resume", "--retry-errors", "--baseline")
_ITEMS, _AGENT, _COMPARE = "Which items", "Which configuration", "Comparison and gates"
_REFINE = "Refinement of outputs that a judge finds wanting"


class EvalCommand(TyperCommand):
    """Takes options such as --baseline without a value too, which then is `latest`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse, with the values filled in."""
        filled: list[str] = []
        for location, word in enumerate(args):
            filled.append(word)
            following = args[location + 1 : location + 2]
            if word in _OPTIONAL_VALUE and (not following or following[0].startswith("-")):
                filled.append(LATEST)
        return super().parse_args(ctx, filled)


def evaluate(
    context: typer.Context,
    *,
    split: Annotated[
        str | None,
        typer.Option(help="Only this split: train, validation or test.", rich_help_panel=_ITEMS),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="At most so many items.", rich_help_panel=_ITEMS)
    ] = None,
    repeats: Annotated[
        int | None, typer.Option(min=1, help="Runs of each item.", rich_help_panel=_ITEMS)
    ] = None,
    filter_failing: Annotated[
        str | None,
        typer.Option(
            metavar="[EXPERIMENT]",
            help="Only items that failed there; without a value, in the latest.",
            rich_help_panel=_ITEMS,
        ),
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option(
            metavar="[EXPERIMENT]",
            help="Go on with one that was stopped: run only what it lacks.",
            rich_help_panel=_ITEMS,
        ),
    ] = None,
    retry_errors: Annotated[
        str | None,
        typer.Option(
            metavar="[EXPERIMENT]",
            help="Run again, in place, what ended in an error there.",
            rich_help_panel=_ITEMS,
        ),
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
            help="Override the config, such as agent.parameters.temperature=0.2. Repeatable.",
            rich_help_panel=_AGENT,
        ),
    ] = None,
    section: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH=TEXT",
            help="Another text for a section; PATH=@FILE reads it from a file. Repeatable.",
            rich_help_panel=_AGENT,
        ),
    ] = None,
    agent_version: AgentVersionOption = None,
    refine_model: Annotated[
        str | None,
        typer.Option(help="The optimizer: the model that writes anew.", rich_help_panel=_REFINE),
    ] = None,
    refine_limit: Annotated[
        int | None,
        typer.Option(
            min=0, help="At most so often for each output; 0 is off.", rich_help_panel=_REFINE
        ),
    ] = None,
    refine_threshold: Annotated[
        float | None,
        typer.Option(
            help="Stop from this score on; otherwise at a perfect one.", rich_help_panel=_REFINE
        ),
    ] = None,
    refine_answer: Annotated[
        str | None,
        typer.Option(metavar="latest|best", help="Which round counts.", rich_help_panel=_REFINE),
    ] = None,
    max_evaluations: MaxEvaluations = None,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    max_seconds: MaxSeconds = None,
    concurrency: Annotated[int | None, typer.Option(min=1, help="Items at once.")] = None,
    batch: Batch = False,
    timeout: Annotated[float | None, typer.Option(help="Seconds for one item.")] = None,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Run and pay for everything again.")
    ] = False,
    name: Annotated[str | None, typer.Option(help="A name for the experiment.")] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="[EXPERIMENT|FILE]",
            help="Compare, item by item, with an experiment or a JSON file that `burnish export` "
            "wrote; without a value, with the latest.",
            rich_help_panel=_COMPARE,
        ),
    ] = None,
    min_score: Annotated[
        float | None,
        typer.Option(help="Exit with 1 when the score is below.", rich_help_panel=_COMPARE),
    ] = None,
    fail_on_regression: Annotated[
        bool,
        typer.Option(
            "--fail-on-regression",
            help="Exit with 1 when worse than the baseline with p < 0.05.",
            rich_help_panel=_COMPARE,
        ),
    ] = False,
    fail_on_broken_item: Annotated[
        bool,
        typer.Option(
            "--fail-on-broken-item",
            help="Exit with 1 when an item that passed with the baseline fails, more often than its "
            "pass rate explains; failing items are run again, and flaky ones named.",
            rich_help_panel=_COMPARE,
        ),
    ] = False,
    reruns: Annotated[
        int,
        typer.Option(
            min=0,
            help="With --fail-on-broken-item: at most so many further runs of an item that fails.",
            rich_help_panel=_COMPARE,
        ),
    ] = RERUNS,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Run the agent over the suite, and keep and score every answer.

    Results are saved as they come. What was already answered is not paid for again. A limit that is
    reached ends it: what runs then still ends, and --resume goes on.
    """
    request = EvalRequest(
        split=split,
        limit=limit,
        repeats=repeats,
        filter_failing=filter_failing,
        resume=resume,
        retry_errors=retry_errors,
        model=model,
        settings=tuple(set_ or ()),
        sections=tuple(section or ()),
        agent_version=agent_version,
        refine=RefineOptions(
            model=refine_model,
            limit=refine_limit,
            threshold=refine_threshold,
            answer=refine_answer,
        ),
        budget=Budget(
            max_evaluations=max_evaluations,
            max_calls=max_calls,
            max_tokens=max_tokens,
            max_cost_usd=max_cost,
            max_seconds=max_seconds,
        ),
        concurrency=concurrency,
        batch=batch,
        timeout=timeout,
        use_cache=not no_cache,
        name=name,
        baseline=baseline,
        min_score=min_score,
        fail_on_regression=fail_on_regression,
        fail_on_broken_item=fail_on_broken_item,
        reruns=reruns,
    )
    location = ProjectLocation.of(context, config, db)
    raise typer.Exit(evaluate_request(context.obj, location, request))


def evaluate_request(streams: Streams, location: ProjectLocation, request: EvalRequest) -> int:
    """Run it, print the result and return the exit code."""
    overrides = request.overrides()
    settings = location.settings(overrides)
    asked = request.agent_version
    chosen = run(version_to_run(streams, location, settings, asked, overrides))
    watch = Watch()
    started = time.monotonic()
    with showing(streams.messages, watch.progress):
        outcome = run(
            _evaluate(location, chosen, request, watch),
            note=lambda: watch.kept(location, request),
        )
    gates = check_gates(request, outcome.result)
    if streams.json_output:
        document = outcome.result.to_json()
        if gates:
            document["gates"] = [gate.to_json() for gate in gates]
        streams.print_document(document)
    else:
        seconds = time.monotonic() - started
        print_result(streams.console, outcome.result, outcome.worst, location, seconds=seconds)
    return _exit_code(streams, outcome.result, gates, watch.progress)


@dataclass(frozen=True, slots=True)
class _Outcome:
    result: EvaluationResult
    worst: list[FailingItem]


async def _evaluate(
    location: ProjectLocation, chosen: VersionChoice, request: EvalRequest, watch: Watch
) -> _Outcome:
    settings = chosen.settings
    models = settings.models if request.use_cache else _without_cache(settings.models)
    async with Workspace.open(location.database, models=models) as workspace:
        settings = await with_stored_rows(workspace, settings)
        if request.continued:
            experiment = await resolve(workspace.experiments, request.continued)
            await keep_batches(workspace, experiment.id)
        # Before the new experiment exists: `latest` means the latest one so far.
        baseline = None
        if request.baseline:
            baseline = await read_baseline(workspace.experiments, request.baseline)
        evaluation = Evaluation(
            workspace,
            settings.agent_spec(),
            settings.suite_spec(),
            agent_version=chosen.version,
            baseline=None if baseline is None else baseline.stored_outputs,
        )
        watch.evaluation = evaluation
        try:
            result = await _run(workspace, evaluation, settings, request, watch.progress, baseline)
        finally:
            await evaluation.close()
        return _Outcome(result, await worst_items(workspace, result.experiment))


async def _run(
    workspace: Workspace,
    evaluation: Evaluation,
    settings: Settings,
    request: EvalRequest,
    progress: Progress,
    baseline: Baseline | None,
) -> EvaluationResult:
    experiments = workspace.experiments
    if baseline is not None:
        baseline.require_items(evaluation.suite.dataset.index().lines)
    options = RunOptions(
        concurrency=settings.agent.concurrency,
        item_timeout_seconds=settings.agent.timeout_seconds,
        outage_seconds=settings.agent.outage_seconds,
        use_cache=request.use_cache,
    )
    if request.continued:
        experiment = await resolve(experiments, request.continued)
        retry = request.retry_errors is not None
        result = await evaluation.resume(
            experiment.id,
            retry_errors=retry,
            options=options,
            progress=progress,
            budget=request.budget,
        )
    else:
        selection = await _selection(evaluation, request)
        result = await evaluation.run(
            selection,
            name=request.name,
            options=options,
            progress=progress,
            budget=request.budget,
        )
    if baseline is not None and request.fail_on_broken_item:
        return await told_apart(workspace, evaluation, result, baseline, reruns=request.reruns)
    return result if baseline is None else await compared_with(experiments, result, baseline)


async def _selection(evaluation: Evaluation, request: EvalRequest) -> Selection:
    selection = Selection(split=request.split, limit=request.limit)
    if request.filter_failing:
        selection = await evaluation.only_failing(selection, request.filter_failing)
    return selection


def _without_cache(models: Mapping[str, Any]) -> dict[str, Any]:
    tables = {
        name: {**table, "cache": False} if isinstance(table, Mapping) else table
        for name, table in models.items()
    }
    return {**tables, "cache": False}


def _exit_code(
    streams: Streams, result: EvaluationResult, gates: list[Gate], progress: Progress
) -> int:
    if result.experiment.status is ExperimentStatus.FAILED:
        error = nothing_worked(progress)
        if error is not None:
            print_notice(streams, [("error", error.what), ("why", error.why), ("fix", error.fix)])
        return 4 if error is None else error.exit_code
    failed = [gate for gate in gates if not gate.passed]
    for gate in failed:
        print_notice(streams, [("gate failed", gate.words)])
    if result.broken is not None and result.broken.passed and result.broken.changes and gates:
        print_notice(streams, [("flaky", result.broken.in_words())])
    return 1 if failed else 0


@dataclass(slots=True)
class Watch:
    """The progress, and the evaluation once it is prepared."""

    progress: Progress = field(default_factory=Progress)
    evaluation: Evaluation | None = None

    def kept(self, location: ProjectLocation, request: EvalRequest) -> str | None:
        """What of a stopped run is kept, and the command that goes on with it."""
        experiment_id = self.evaluation.experiment_id if self.evaluation else None
        lost, planned = self.progress.infrastructure_errors, self.progress.planned
        kept = self.progress.done - lost
        if experiment_id is None or not kept:
            return None
        # What failed for outside reasons is worth another try; an agent's own errors would repeat.
        option = "--retry-errors" if lost else "--resume"
        command = location.command(*request.continuing_with(short_id(experiment_id), option))
        runs = f"{kept:,} of {counted(planned, 'run')}" if planned else counted(kept, "run")
        return f"{runs} saved; go on with: {command}"
