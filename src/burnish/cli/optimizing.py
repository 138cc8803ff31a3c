"""One `burnish optimize` or `burnish resume`, from its request to its exit code."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path

from burnish.app.datasets.stored import with_stored_rows
from burnish.app.optimize.optimizations import Optimization, load_result
from burnish.app.optimize.result import OptimizationResult
from burnish.app.optimize.run_spec import require_unchanged, spec_of, stored_settings
from burnish.app.optimize.runners import RunnerChoice
from burnish.app.report.collapse import collapse_warnings
from burnish.app.wiring import Workspace
from burnish.cli.console import Session
from burnish.cli.display.optimization_summary import resumable
from burnish.cli.display.search_progress import showing_search
from burnish.cli.display.search_results import print_search_result
from burnish.cli.following import following
from burnish.cli.mirror_lines import mirror_lines
from burnish.cli.optimize_request import OptimizeRequest
from burnish.cli.planning import show_plan
from burnish.cli.project_location import Place
from burnish.cli.references import resolve_optimization
from burnish.cli.runner_options import RunnerOptions
from burnish.cli.running import run
from burnish.cli.search_watch import SearchWatch
from burnish.config.default_budget import DEFAULT_TRIALS, limited
from burnish.config.schema import Settings
from burnish.config.search import SearchSpec
from burnish.domain import (
    BurnishError,
    ConflictError,
    OptimizationRecord,
    OptimizationStatus,
)
from burnish.domain.mirrors import MirrorTarget
from burnish.integrations.opik.mirror import MirrorOutcome
from burnish.integrations.opik.mirror_settings import mirror_target, mirrored

_STOPPED_BY_SOMEBODY = 130


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """A result, and what has to be said about it."""

    result: OptimizationResult
    warnings: tuple[str, ...] = ()
    mirror: MirrorOutcome | None = None


def optimize_request(session: Session, place: Place, request: OptimizeRequest) -> int:
    """Run it, print the result and return the exit code."""
    settings = _with_a_limit(session, place.settings(request.overrides()))
    if request.dry_run:
        run(show_plan(session, settings))
        return 0
    for note in SearchSpec.of(settings.optimizer).notes:
        session.messages.print(note, soft_wrap=True)
    choice = chosen_runner(session, place, request.runner)
    watch = SearchWatch(budget=settings.budget_spec())
    started = time.monotonic()
    with showing_search(session.messages, watch):
        outcome = run(
            start(place.database, settings, watch, choice, name=request.name),
            note=lambda: watch.kept(place),
        )
    return _present(session, place, outcome, time.monotonic() - started)


def resume_optimization(
    session: Session, place: Place, reference: str, options: RunnerOptions | None = None
) -> int:
    """Go on with one, print the result and return the exit code."""
    choice = chosen_runner(session, place, options or RunnerOptions())
    watch = SearchWatch()
    started = time.monotonic()
    with showing_search(session.messages, watch):
        outcome = run(
            resume_search(place, reference, watch, choice), note=lambda: watch.kept(place)
        )
    return _present(session, place, outcome, time.monotonic() - started)


def chosen_runner(session: Session, place: Place, options: RunnerOptions) -> RunnerChoice:
    """Where to evaluate, with what has to be said about it."""
    choice = options.choice(session)
    note = choice.note(place.database)
    if note is not None:
        session.messages.print(note, soft_wrap=True)
    return choice


async def start(
    database: str,
    settings: Settings,
    watch: SearchWatch,
    choice: RunnerChoice | None = None,
    *,
    name: str | None = None,
) -> SearchOutcome:
    """A new optimization, run to its end."""
    choice = choice or RunnerChoice()
    make_adapter = choice.make_adapter(database, settings.folder)
    await choice.require_reachable()
    target = mirror_target(settings.mirror)
    async with Workspace.open(database, models=settings.models) as workspace:
        optimization = Optimization.of_settings(workspace, settings, make_adapter=make_adapter)
        try:
            spec = spec_of(settings, optimization)
            created = await optimization.create(name=name, spec=spec)
            record = await workspace.optimizations.get_optimization(created)
            return await _run(workspace, optimization, record, watch, target)
        finally:
            await optimization.close()


async def resume_search(
    place: Place, reference: str, watch: SearchWatch, choice: RunnerChoice | None = None
) -> SearchOutcome:
    """An optimization gone on with to its end; one that has ended is only read."""
    choice = choice or RunnerChoice()
    async with place.read() as workspace:
        record = await resolve_optimization(workspace.optimizations, reference)
        if record.status is OptimizationStatus.COMPLETED:
            return await _outcome(workspace, await load_result(workspace, record.id))
        settings = await with_stored_rows(workspace, stored_settings(record, _folder(place)))
        watch.budget = settings.budget_spec()
        make_adapter = choice.make_adapter(place.database, settings.folder)
        await choice.require_reachable()
        workspace.models.use(settings.models)
        optimization = Optimization.of_settings(workspace, settings, make_adapter=make_adapter)
        try:
            require_unchanged(record, optimization)
            target = mirror_target(settings.mirror)
            return await _run(workspace, optimization, record, watch, target)
        finally:
            await optimization.close()


async def _run(
    workspace: Workspace,
    optimization: Optimization,
    record: OptimizationRecord,
    watch: SearchWatch,
    target: MirrorTarget | None,
) -> SearchOutcome:
    watch.title = record.name
    watch.optimization_id = record.id
    # A cancelled one cannot be gone on with.
    watch.unfinished = record.status is not OptimizationStatus.CANCELLED
    try:
        async with (
            mirrored(workspace, record.id, target) as mirror,
            following(workspace.optimizations, record.id, watch),
        ):
            result = await optimization.run(record.id, watch=watch.begin)
    except BurnishError as error:
        # It is somebody else's now, or would only fail again.
        if isinstance(error, ConflictError) or not resumable(error.code):
            watch.unfinished = False
        raise
    return replace(await _outcome(workspace, result), mirror=mirror)


async def _outcome(workspace: Workspace, result: OptimizationResult) -> SearchOutcome:
    return SearchOutcome(result, await collapse_warnings(workspace, result.record))


def _present(session: Session, place: Place, outcome: SearchOutcome, seconds: float) -> int:
    result = outcome.result
    if outcome.mirror is not None:
        for line in mirror_lines(outcome.mirror):
            session.messages.print(line, soft_wrap=True)
    if session.json_output:
        session.print_document(result.to_json())
    else:
        print_search_result(session.console, result, place, outcome.warnings, seconds=seconds)
    cancelled = result.status is OptimizationStatus.CANCELLED
    return _STOPPED_BY_SOMEBODY if cancelled else 0


def _with_a_limit(session: Session, settings: Settings) -> Settings:
    within, added = limited(settings)
    if added:
        session.messages.print(
            f"no budget is given: at most {DEFAULT_TRIALS} trials (--max-trials changes that)",
            soft_wrap=True,
        )
    return within


def _folder(place: Place) -> Path:
    return place.config.absolute().parent
