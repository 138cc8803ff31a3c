"""Image runs that are stored: listed, shown and stopped."""

from __future__ import annotations

from pathlib import Path

from burnish.app.images.documents import run_document
from burnish.cli.console import Session
from burnish.cli.display.image_listings import image_listing_json, print_image_runs
from burnish.cli.display.image_results import print_image_run
from burnish.cli.image_place import read_images
from burnish.cli.image_references import resolve_run
from burnish.cli.imaging import write_sheet
from burnish.cli.project_location import Place
from burnish.cli.running import run
from burnish.domain.images import ImageRun, ImageRunStatus


def list_image_runs(
    session: Session,
    place: Place,
    *,
    project: str | None,
    status: ImageRunStatus | None,
    limit: int,
) -> None:
    """Print the newest runs."""
    found = run(_read(place, project, status, limit)) if place.has_database else []
    if session.json_output:
        session.print_document({"runs": [image_listing_json(one) for one in found]})
    elif found:
        print_image_runs(session.console, found)
    else:
        session.say("no image runs; `burnish image run --prompt …` makes one")


def show_image_run(session: Session, place: Place, reference: str, sheet: Path | None) -> None:
    """Print one run; with a path its contact sheet is written."""
    found, written = run(_show(place, reference, sheet))
    if session.json_output:
        path = None if written is None else str(written)
        session.print_document({**run_document(found), "contact_sheet": path})
    else:
        print_image_run(session.console, found, place, sheet=written)


def cancel_image_run(session: Session, place: Place, reference: str) -> None:
    """Ask for its end, and say how it stands."""
    before, after = run(_cancel(place, reference))
    if session.json_output:
        session.print_document(
            {
                "run_id": after.run_id,
                "status": after.status.value,
                "cancelled": after.status is ImageRunStatus.CANCELLED,
                "requested": not before.status.ended,
            }
        )
        return
    session.say(_words(before, after))


async def _read(
    place: Place, project: str | None, status: ImageRunStatus | None, limit: int
) -> list[ImageRun]:
    async with read_images(place) as images:
        page = await images.page(project_id=project, status=status, limit=limit)
        return list(page.items)


async def _show(place: Place, reference: str, sheet: Path | None) -> tuple[ImageRun, Path | None]:
    async with read_images(place) as images:
        found = await resolve_run(images, reference)
        if sheet is None:
            return found, None
        return found, await write_sheet(images, place, found, sheet)


async def _cancel(place: Place, reference: str) -> tuple[ImageRun, ImageRun]:
    async with read_images(place) as images:
        found = await resolve_run(images, reference)
        return found, await images.cancel(found.run_id)


def _words(before: ImageRun, after: ImageRun) -> str:
    if before.status.ended:
        return f"image run {after.run_id} was {after.status.value} already; nothing was changed"
    if after.status is ImageRunStatus.CANCELLED:
        return f"image run {after.run_id} is cancelled; what it drew and judged is kept"
    return f"image run {after.run_id} was asked to stop; it stops as soon as its owner sees that"
