"""One `burnish image optimize`, from its request to its exit code."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uuid_utils

from burnish.app.images.documents import optimization_document
from burnish.app.images.runs import ImageRuns
from burnish.cli.console import Session
from burnish.cli.display.image_progress import showing_images
from burnish.cli.display.image_rounds import print_image_rounds
from burnish.cli.image_endings import exit_code
from burnish.cli.image_options import ImageRequest
from burnish.cli.image_place import open_images
from burnish.cli.image_references import resolve_commit
from burnish.cli.image_watch import ImageWatch
from burnish.cli.imaging import write_sheet
from burnish.cli.project_location import Place
from burnish.cli.running import run
from burnish.domain import UsageError
from burnish.images.rounds import ImageOptimizationResult, RoundsBudget


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundsRequest:
    """What is asked for and how far it may go. With `resume`, what was asked for is stored."""

    request: ImageRequest
    limits: dict[str, Any]
    resume: str | None

    @property
    def budget(self) -> RoundsBudget:
        """The limits that were named."""
        return RoundsBudget(**{name: one for name, one in self.limits.items() if one is not None})

    def continuing(self, optimization_id: str) -> tuple[str, ...]:
        """The words of the command that goes on within the same limits."""
        words = ["image", "optimize", "--resume", optimization_id]
        for name, value in self.limits.items():
            words += [] if value is None else [f"--{name.replace('_', '-')}", f"{value:g}"]
        return tuple(words)


@dataclass(frozen=True, slots=True)
class _Outcome:
    result: ImageOptimizationResult
    sheet: Path | None


def optimize_images(
    session: Session, place: Place, wanted: RoundsRequest, sheet: Path | None
) -> int:
    """Carry the rounds out, print what came out and return the exit code."""
    if wanted.resume is None and not wanted.request.prompt:
        raise UsageError(
            what="there is nothing to draw",
            why="neither --prompt nor --resume is given",
            fix='say what the pictures are to show with --prompt "…"',
            code="INVALID_REQUEST",
        )
    watch = ImageWatch()
    started = time.monotonic()
    with showing_images(session.messages, watch):
        outcome = run(_optimize(place, wanted, watch, sheet), note=lambda: watch.kept(place))
    seconds = time.monotonic() - started
    if session.json_output:
        written = None if outcome.sheet is None else str(outcome.sheet)
        document = optimization_document(outcome.result)
        session.print_document({**document, "contact_sheet": written})
    else:
        print_image_rounds(
            session.console, outcome.result, place, sheet=outcome.sheet, seconds=seconds
        )
    rounds = outcome.result.rounds
    return exit_code(session, rounds[-1].run) if rounds else 0


async def _optimize(
    place: Place, wanted: RoundsRequest, watch: ImageWatch, sheet: Path | None
) -> _Outcome:
    budget = wanted.budget
    async with open_images(place) as images:
        asked = wanted.request
        identity = wanted.resume or str(uuid_utils.uuid7())
        watch.resume = wanted.continuing(identity)
        request = None
        if wanted.resume is None:
            parent = asked.parent
            if parent is not None:
                parent = await resolve_commit(images, parent, asked.project)
            request = asked.run_request(images.models.settings.table, parent)
        result = await images.optimize(
            request, budget=budget, optimization_id=identity, progress=watch.note
        )
        return _Outcome(result, await _sheet(images, place, result, sheet))


async def _sheet(
    images: ImageRuns, place: Place, result: ImageOptimizationResult, given: Path | None
) -> Path | None:
    """Of the round with the best picture, else of the last one."""
    kept = [one for one in result.rounds if one.kept]
    shown = kept or list(result.rounds)
    return await write_sheet(images, place, shown[-1].run, given) if shown else None
