"""One stored experiment or optimization, printed."""

from __future__ import annotations

from burnish.cli.place import Place
from burnish.cli.references import resolve_any
from burnish.cli.running import run
from burnish.cli.session import Session
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
                raise _of_the_other(views.of_optimization[0], found.id, "an experiment", _hint(found))
            await show_experiment(session, place, workspace, found, views)
            return
        if views.of_experiment:
            fix = await _best_experiment(workspace.optimizations, found, place, views)
            raise _of_the_other(views.of_experiment[0], found.id, "an optimization", fix)
        await show_optimization(session, place, workspace, found, views)
