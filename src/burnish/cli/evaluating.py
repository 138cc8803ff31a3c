"""One `burnish eval` from its request to its exit code."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from burnish.app.evaluate.evaluations import Evaluation, Selection
from burnish.app.evaluate.result import EvaluationResult, compare
from burnish.app.wiring import Workspace
from burnish.cli.console import Session
from burnish.cli.display.failing_items import FailingItem, worst_items
from burnish.cli.display.progress import showing
from burnish.cli.display.results import print_result
from burnish.cli.eval_request import EvalRequest
from burnish.cli.gates import Gate, check_gates
from burnish.cli.notices import print_notice
from burnish.cli.project_location import Place
from burnish.cli.references import resolve
from burnish.cli.running import run
from burnish.cli.watch import Watch
from burnish.config.schema import Settings
from burnish.domain import ExperimentStatus, UnavailableError, UsageError
from burnish.evaluation.progress import Progress
from burnish.evaluation.runner import RunOptions


@dataclass(frozen=True, slots=True)
class _Outcome:
    result: EvaluationResult
    worst: list[FailingItem]


def evaluate_request(session: Session, place: Place, request: EvalRequest) -> int:
    """Run it, print the result and return the exit code."""
    settings = place.settings(request.overrides())
    watch = Watch()
    started = time.monotonic()
    with showing(session.messages, watch.progress):
        outcome = run(
            _evaluate(place, settings, request, watch), note=lambda: watch.kept(place, request)
        )
    gates = check_gates(request, outcome.result)
    if session.json_output:
        document = outcome.result.to_json()
        if gates:
            document["gates"] = [gate.to_json() for gate in gates]
        session.print_document(document)
    else:
        seconds = time.monotonic() - started
        print_result(session.console, outcome.result, outcome.worst, place, seconds=seconds)
    return _exit_code(session, outcome.result, gates, watch.progress)


async def _evaluate(
    place: Place, settings: Settings, request: EvalRequest, watch: Watch
) -> _Outcome:
    models = settings.models if request.use_cache else _without_cache(settings.models)
    async with Workspace.open(place.database, models=models) as workspace:
        evaluation = Evaluation(workspace, settings.agent_spec(), settings.suite_spec())
        watch.evaluation = evaluation
        try:
            result = await _run(workspace, evaluation, settings, request, watch.progress)
        finally:
            await evaluation.close()
        return _Outcome(result, await worst_items(workspace, result.experiment))


async def _run(
    workspace: Workspace,
    evaluation: Evaluation,
    settings: Settings,
    request: EvalRequest,
    progress: Progress,
) -> EvaluationResult:
    experiments = workspace.experiments
    # Before the new experiment exists: `latest` means the latest one so far.
    baseline = await resolve(experiments, request.baseline) if request.baseline else None
    if baseline is not None:
        await _require_common_items(workspace, evaluation, baseline.id)
    options = RunOptions(
        concurrency=settings.agent.concurrency,
        item_timeout_seconds=settings.agent.timeout_seconds,
        use_cache=request.use_cache,
    )
    if request.continued:
        experiment = await resolve(experiments, request.continued)
        retry = request.retry_errors is not None
        result = await evaluation.resume(
            experiment.id, retry_errors=retry, options=options, progress=progress
        )
    else:
        selection = await _selection(workspace, evaluation, request)
        result = await evaluation.run(
            selection, name=request.name, options=options, progress=progress
        )
    if baseline is None:
        return result
    comparison = await compare(experiments, baseline.id, result.experiment_id)
    return replace(result, comparison=comparison, baseline_id=baseline.id)


async def _selection(
    workspace: Workspace, evaluation: Evaluation, request: EvalRequest
) -> Selection:
    only = None
    if request.filter_failing:
        experiment = await resolve(workspace.experiments, request.filter_failing)
        only = await evaluation.failing_items(experiment.id)
    return Selection(split=request.split, limit=request.limit, only=only)


async def _require_common_items(
    workspace: Workspace, evaluation: Evaluation, baseline_id: str
) -> None:
    """A baseline of other items is refused before anything is paid."""
    known = await workspace.experiments.item_scores(baseline_id)
    if known.keys().isdisjoint(evaluation.suite.dataset.index().lines):
        raise UsageError(
            what=f"experiment {baseline_id} cannot be the baseline",
            why="it has no item of this dataset",
            fix="name an experiment of the same dataset; `burnish list` shows them",
            code="nothing_in_common",
        )


def _without_cache(models: Mapping[str, Any]) -> dict[str, Any]:
    tables = {
        name: {**table, "cache": False} if isinstance(table, Mapping) else table
        for name, table in models.items()
    }
    return {**tables, "cache": False}


def _exit_code(
    session: Session, result: EvaluationResult, gates: list[Gate], progress: Progress
) -> int:
    if result.experiment.status is ExperimentStatus.FAILED:
        error = UnavailableError(
            what="the evaluation failed",
            why=f"every run failed for a reason outside the agent; the last: {progress.last_error}",
            fix="run the same command again once that is solved",
        )
        print_notice(session, [("error", error.what), ("why", error.why), ("fix", error.fix)])
        return error.exit_code
    failed = [gate for gate in gates if not gate.passed]
    for gate in failed:
        print_notice(session, [("gate failed", gate.words)])
    return 1 if failed else 0
