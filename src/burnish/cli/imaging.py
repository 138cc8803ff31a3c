"""One `burnish image run` or `image resume`, from its request to its exit code."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from burnish.app.images.documents import run_document
from burnish.app.images.runs import ImageRuns
from burnish.cli.console import Session
from burnish.cli.display.image_progress import showing_images
from burnish.cli.display.image_results import print_image_run
from burnish.cli.image_endings import exit_code
from burnish.cli.image_options import ImageRequest
from burnish.cli.image_place import open_images, read_images, sheet_path, write_picture
from burnish.cli.image_references import resolve_commit, resolve_run
from burnish.cli.image_watch import ImageWatch
from burnish.cli.project_location import Place
from burnish.cli.running import run
from burnish.domain.images import ImageRun


@dataclass(frozen=True, slots=True)
class ImageOutcome:
    """A run that has ended, and where its contact sheet is; None when nothing was drawn."""

    run: ImageRun
    sheet: Path | None


def run_images(session: Session, place: Place, request: ImageRequest, sheet: Path | None) -> int:
    """Carry it out, print what came out and return the exit code."""
    watch = ImageWatch()
    started = time.monotonic()
    with showing_images(session.messages, watch):
        outcome = run(_start(place, request, watch, sheet), note=lambda: watch.kept(place))
    return present_run(session, place, outcome, time.monotonic() - started)


def resume_images(session: Session, place: Place, reference: str, sheet: Path | None) -> int:
    """Go on with one, print what came out and return the exit code."""
    watch = ImageWatch()
    started = time.monotonic()
    with showing_images(session.messages, watch):
        outcome = run(_resume(place, reference, watch, sheet), note=lambda: watch.kept(place))
    return present_run(session, place, outcome, time.monotonic() - started)


def present_run(session: Session, place: Place, outcome: ImageOutcome, seconds: float) -> int:
    """The document or the words, and the exit code."""
    if session.json_output:
        sheet = None if outcome.sheet is None else str(outcome.sheet)
        session.print_document({**run_document(outcome.run), "contact_sheet": sheet})
    else:
        print_image_run(session.console, outcome.run, place, sheet=outcome.sheet, seconds=seconds)
    return exit_code(session, outcome.run)


async def _start(
    place: Place, request: ImageRequest, watch: ImageWatch, sheet: Path | None
) -> ImageOutcome:
    async with open_images(place) as images:
        parent = request.parent
        if parent is not None:
            parent = await resolve_commit(images, parent, request.project)
        usual = images.models.settings.table
        queued = await images.create(request.run_request(usual, parent))
        return await _carry_out(images, place, queued, watch, sheet)


async def _resume(
    place: Place, reference: str, watch: ImageWatch, sheet: Path | None
) -> ImageOutcome:
    async with read_images(place) as images:
        found = await resolve_run(images, reference)
        return await _carry_out(images, place, found, watch, sheet)


async def _carry_out(
    images: ImageRuns, place: Place, started: ImageRun, watch: ImageWatch, sheet: Path | None
) -> ImageOutcome:
    watch.note(started)
    ended = started
    if not started.status.ended:
        ended = await images.execute(started.run_id, progress=watch.note)
        watch.note(ended)
    return ImageOutcome(ended, await write_sheet(images, place, ended, sheet))


async def write_sheet(
    images: ImageRuns, place: Place, ended: ImageRun, given: Path | None
) -> Path | None:
    """The contact sheet's path; None when there is no picture to put on it."""
    if not any(variant.image for variant in ended.variants):
        return None
    path = sheet_path(place, ended.run_id, given)
    write_picture(path, await images.contact_sheet(ended.run_id))
    return path
