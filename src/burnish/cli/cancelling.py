"""An optimization stopped from outside."""

from __future__ import annotations

from burnish.app.optimize.cancellation import cancel_optimization
from burnish.cli.console import Session
from burnish.cli.project_location import Place
from burnish.cli.references import resolve_optimization
from burnish.cli.running import run
from burnish.domain import OptimizationRecord, OptimizationStatus


def cancel_reference(session: Session, place: Place, reference: str) -> None:
    """Ask for its end, wait a little, and say how it stands."""
    before, after = run(_cancel(place, reference))
    if session.json_output:
        session.print_document(
            {
                "optimization_id": after.id,
                "status": after.status.value,
                "cancelled": after.status is OptimizationStatus.CANCELLED,
                "requested": not before.status.final,
            }
        )
        return
    session.say(_words(before, after))


async def _cancel(place: Place, reference: str) -> tuple[OptimizationRecord, OptimizationRecord]:
    async with place.read() as workspace:
        record = await resolve_optimization(workspace.optimizations, reference)
        return record, await cancel_optimization(workspace, record.id)


def _words(before: OptimizationRecord, after: OptimizationRecord) -> str:
    if before.status.final:
        return f"optimization {after.id} was {after.status.value} already; nothing was changed"
    if after.status is OptimizationStatus.CANCELLED:
        return f"optimization {after.id} is cancelled; what it evaluated is kept"
    if after.status.final:
        return f"optimization {after.id} {after.status.value} before it could be cancelled"
    return (
        f"optimization {after.id} was asked to stop, and has not answered yet; "
        "it stops as soon as its owner sees that"
    )
