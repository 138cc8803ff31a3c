"""One `burnish optimize` or `burnish resume`, from its request to its exit code."""

from __future__ import annotations

import time
from pathlib import Path

from burnish.bootstrap.optimization_result import OptimizationResult
from burnish.bootstrap.optimizations import Optimization, load_result
from burnish.bootstrap.run_spec import require_unchanged, spec_of, stored_settings
from burnish.bootstrap.tables import BudgetTable, Settings
from burnish.bootstrap.workspace import Workspace
from burnish.cli.display.search_progress import showing_search
from burnish.cli.display.search_results import print_search_result
from burnish.cli.optimize_request import OptimizeRequest
from burnish.cli.place import Place
from burnish.cli.planning import show_plan
from burnish.cli.references import resolve_optimization
from burnish.cli.running import run
from burnish.cli.search_watch import SearchWatch
from burnish.cli.session import Session
from burnish.domain import Budget, ConflictError, OptimizationRecord, OptimizationStatus

# Without any limit a search could go on, and be paid for, until somebody notices.
_DEFAULT_TRIALS = 20
_STOPPED_BY_SOMEBODY = 130


def optimize_request(session: Session, place: Place, request: OptimizeRequest) -> int:
    """Run it, print the result and return the exit code."""
    settings = _with_a_limit(session, place.settings(request.overrides()))
    if request.dry_run:
        run(show_plan(session, settings))
        return 0
    watch = SearchWatch(budget=settings.budget_spec())
    started = time.monotonic()
    with showing_search(session.messages, watch):
        result = run(
            start(place.database, settings, watch, name=request.name),
            note=lambda: watch.kept(place),
        )
    return _present(session, place, result, time.monotonic() - started)


def resume_optimization(session: Session, place: Place, reference: str) -> int:
    """Go on with one, print the result and return the exit code."""
    watch = SearchWatch(resumed=True)
    started = time.monotonic()
    with showing_search(session.messages, watch):
        result = run(_resume(place, reference, watch), note=lambda: watch.kept(place))
    return _present(session, place, result, time.monotonic() - started)


async def start(
    database: str, settings: Settings, watch: SearchWatch, *, name: str | None = None
) -> OptimizationResult:
    """A new optimization, run to its end."""
    async with Workspace.open(database, models=settings.models) as workspace:
        optimization = Optimization.of_settings(workspace, settings)
        try:
            spec = spec_of(settings, optimization)
            created = await optimization.create(name=name, spec=spec)
            record = await workspace.optimizations.get_optimization(created)
            return await _run(optimization, record, watch)
        finally:
            await optimization.close()


async def _resume(place: Place, reference: str, watch: SearchWatch) -> OptimizationResult:
    async with place.read() as workspace:
        record = await resolve_optimization(workspace.optimizations, reference)
        if record.status is OptimizationStatus.COMPLETED:
            return await load_result(workspace, record.id)
        settings = stored_settings(record, _folder(place))
        watch.budget = settings.budget_spec()
        workspace.models.use(settings.models)
        optimization = Optimization.of_settings(workspace, settings)
        try:
            require_unchanged(record, optimization)
            return await _run(optimization, record, watch)
        finally:
            await optimization.close()


async def _run(
    optimization: Optimization, record: OptimizationRecord, watch: SearchWatch
) -> OptimizationResult:
    watch.title = record.name
    watch.optimization_id = record.id
    # A cancelled one cannot be gone on with.
    watch.unfinished = record.status is not OptimizationStatus.CANCELLED
    try:
        return await optimization.run(record.id, watch=watch.begin)
    except ConflictError:
        watch.unfinished = False  # It is somebody else's now.
        raise


def _present(session: Session, place: Place, result: OptimizationResult, seconds: float) -> int:
    if session.json_output:
        session.print_document(result.to_json())
    else:
        print_search_result(session.console, result, place, seconds=seconds)
    cancelled = result.status is OptimizationStatus.CANCELLED
    return _STOPPED_BY_SOMEBODY if cancelled else 0


def _with_a_limit(session: Session, settings: Settings) -> Settings:
    if settings.budget_spec() != Budget():
        return settings
    session.messages.print(
        f"no budget is given: at most {_DEFAULT_TRIALS} trials (--max-trials changes that)",
        soft_wrap=True,
    )
    budget = BudgetTable(max_trials=_DEFAULT_TRIALS)
    return settings.model_copy(update={"budget": budget}).placed_in(settings.folder)


def _folder(place: Place) -> Path:
    return place.config.absolute().parent
