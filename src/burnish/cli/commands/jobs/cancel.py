"""`burnish cancel`: stop an optimization or an evaluation, wherever it runs."""

from __future__ import annotations

import typer

from burnish.app.evaluate.leases import cancel_evaluation
from burnish.app.optimize.cancellation import cancel_optimization
from burnish.app.references import resolve_job
from burnish.cli.console import Streams
from burnish.cli.options import Config, Db, JobReference, Json
from burnish.cli.project_location import ProjectLocation
from burnish.cli.running import run
from burnish.domain import Experiment, OptimizationRecord

_CANCELLED = "cancelled"


def cancel(
    context: typer.Context,
    reference: JobReference,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Stop an optimization or an evaluation, also one that another process or machine runs.

    What was evaluated stays and is never paid for again. Cancelling twice does no harm. A cancelled
    optimization is over; `burnish resume` goes on with a cancelled evaluation.
    """
    streams: Streams = context.obj
    before, after = run(_cancel(ProjectLocation.of(context, config, db), reference))
    if streams.json_output:
        name = "experiment_id" if isinstance(after, Experiment) else "optimization_id"
        streams.print_document(
            {
                name: after.id,
                "status": after.status.value,
                "cancelled": after.status.value == _CANCELLED,
                "requested": not before.status.final,
            }
        )
        return
    streams.say(_words(before, after))


async def _cancel(
    location: ProjectLocation, reference: str
) -> tuple[Experiment | OptimizationRecord, Experiment | OptimizationRecord]:
    """As it was before and is now."""
    async with location.read() as workspace:
        found = await resolve_job(workspace, reference)
        if isinstance(found, Experiment):
            return found, await cancel_evaluation(workspace, found.id)
        return found, await cancel_optimization(workspace, found.id)


def _words(before: Experiment | OptimizationRecord, after: Experiment | OptimizationRecord) -> str:
    named = f"{'evaluation' if isinstance(after, Experiment) else 'optimization'} {after.id}"
    if before.status.final:
        return f"{named} was {after.status.value} already; nothing was changed"
    if after.status.value == _CANCELLED:
        return f"{named} is cancelled; what it evaluated is kept"
    if after.status.final:
        return f"{named} {after.status.value} before it could be cancelled"
    return (
        f"{named} was asked to stop, and has not answered yet; "
        "it stops as soon as its owner sees that"
    )
