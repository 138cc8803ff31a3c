"""One stored experiment or optimization, printed."""

from __future__ import annotations

from burnish.app.wiring import Workspace
from burnish.cli.console import Session
from burnish.cli.project_location import Place
from burnish.cli.references import resolve_any
from burnish.cli.running import run
from burnish.cli.showing import show_experiment
from burnish.cli.showing_optimization import show_optimization
from burnish.cli.views import Views
from burnish.cli.wording import short_id
from burnish.domain import Experiment, OptimizationRecord, UsageError


def show_any(session: Session, place: Place, reference: str, views: Views) -> None:
    """Print whichever is meant."""
    run(_show(session, place, reference, views))


async def _show(session: Session, place: Place, reference: str, views: Views) -> None:
    async with place.read() as workspace:
        found = await resolve_any(workspace, reference)
        if isinstance(found, Experiment):
            if views.of_optimization:
                raise _misplaced(views.of_optimization[0], found.id, "an experiment", _home(found))
            await show_experiment(session, place, workspace, found, views)
            return
        if views.of_experiment:
            fix = await _best_experiment(workspace, place, found, views.of_experiment[0])
            raise _misplaced(views.of_experiment[0], found.id, "an optimization", fix)
        await show_optimization(session, place, workspace, found, views)


def _home(experiment: Experiment) -> str:
    if experiment.optimization_id is None:
        return "leave it out, or name an optimization that `burnish list` shows"
    return f"it belongs to optimization {experiment.optimization_id}: name that"


async def _best_experiment(
    workspace: Workspace, place: Place, record: OptimizationRecord, option: str
) -> str:
    for trial in await workspace.optimizations.list_trials(record.id):
        if trial.candidate_id == record.best_candidate_id:
            command = place.command("show", short_id(trial.experiment_id), option)
            return f"for the best candidate: {command}"
    return "name an experiment"


def _misplaced(option: str, identifier: str, kind: str, fix: str) -> UsageError:
    return UsageError(
        what=f"{option} cannot be shown",
        why=f"{identifier} is {kind}, which has none",
        fix=fix,
        code="bad_usage",
    )
