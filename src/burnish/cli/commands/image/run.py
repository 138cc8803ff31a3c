"""`burnish image run` and `image resume`: variants drawn, judged and ranked."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import typer

from burnish.app.images.documents import run_document
from burnish.app.images.runs import ImageRuns
from burnish.app.references import LATEST
from burnish.cli.commands.image.display import ImageWatch, print_image_run, showing_images
from burnish.cli.commands.image.options import (
    DEFAULT_PROJECT,
    Avoid,
    ImageModel,
    ImageRequest,
    ImageRunReference,
    Include,
    JudgeModel,
    Objective,
    PairwiseOption,
    Parent,
    PictureQuality,
    Project,
    Prompt,
    Sheet,
    TextModel,
    Variants,
)
from burnish.cli.commands.image.stored import (
    open_images,
    read_images,
    resolve_commit,
    resolve_run,
    sheet_path,
    write_picture,
)
from burnish.cli.console import Streams
from burnish.cli.display.rows import print_notice
from burnish.cli.options import Config, Db, Json
from burnish.cli.project_location import ProjectLocation
from burnish.cli.running import run
from burnish.domain import InvariantError, UnavailableError, UsageError
from burnish.domain.images.runs import (
    ImageRun,
    ImageRunRequest,
    ImageRunStatus,
    ObjectivePreset,
    Quality,
)

_STOPPED_BY_SOMEBODY = 130
_BUG = "IMAGE_PIPELINE_FAILED"


def run_command(
    context: typer.Context,
    prompt: Prompt,
    *,
    objective: Objective = ObjectivePreset.ADHERENCE,
    variants: Variants = 3,
    parent: Parent = None,
    project: Project = DEFAULT_PROJECT,
    quality: PictureQuality = Quality.MEDIUM,
    include: Include = None,
    avoid: Avoid = None,
    model: ImageModel = None,
    judge: JudgeModel = None,
    text_model: TextModel = None,
    pairwise: PairwiseOption = None,
    sheet: Sheet = None,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Plan variants of a prompt, draw them, judge and rank them, and suggest how to go on.

    Works offline: `sketch` draws by rules, and `pixel-judge` scores what the pixels show. Every
    finished step is saved, so a run that is stopped is gone on with by `burnish image resume`.
    """
    request = ImageRequest(
        prompt=prompt,
        objective=objective,
        variants=variants,
        parent=parent,
        project=project,
        quality=quality,
        include=tuple(include or ()),
        avoid=tuple(avoid or ()),
        model=model,
        judge=judge,
        text_model=text_model,
        pairwise=pairwise,
    )
    streams: Streams = context.obj
    location = ProjectLocation.of(context, config, db)
    watch = ImageWatch()
    started = time.monotonic()
    with showing_images(streams.messages, watch):
        outcome = run(_start(location, request, watch, sheet), note=lambda: watch.kept(location))
    raise typer.Exit(present_run(streams, location, outcome, time.monotonic() - started))


def resume(
    context: typer.Context,
    reference: ImageRunReference = LATEST,
    *,
    sheet: Sheet = None,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Go on with a run that was stopped: what was drawn and judged is not done again."""
    streams: Streams = context.obj
    location = ProjectLocation.of(context, config, db)
    watch = ImageWatch()
    started = time.monotonic()
    with showing_images(streams.messages, watch):
        outcome = run(_resume(location, reference, watch, sheet), note=lambda: watch.kept(location))
    raise typer.Exit(present_run(streams, location, outcome, time.monotonic() - started))


@dataclass(frozen=True, slots=True)
class ImageOutcome:
    """A run that has ended, and where its contact sheet is; None when nothing was drawn."""

    run: ImageRun
    sheet: Path | None


def present_run(
    streams: Streams, location: ProjectLocation, outcome: ImageOutcome, seconds: float
) -> int:
    """The document or the words, and the exit code."""
    if streams.json_output:
        sheet = None if outcome.sheet is None else str(outcome.sheet)
        streams.print_document({**run_document(outcome.run), "contact_sheet": sheet})
    else:
        print_image_run(
            streams.console, outcome.run, location, sheet=outcome.sheet, seconds=seconds
        )
    return exit_code(streams, outcome.run)


async def _start(
    location: ProjectLocation, request: ImageRequest, watch: ImageWatch, sheet: Path | None
) -> ImageOutcome:
    async with open_images(location) as images:
        queued = await images.create(await run_request(images, request))
        return await _carry_out(images, location, queued, watch, sheet)


async def run_request(images: ImageRuns, asked: ImageRequest) -> ImageRunRequest:
    """What is asked for, with the parent's whole id and the models that `[images]` names."""
    parent = asked.parent
    if parent is not None:
        parent = await resolve_commit(images, parent, asked.project)
    return asked.run_request(images.models.settings.table, parent)


async def _resume(
    location: ProjectLocation, reference: str, watch: ImageWatch, sheet: Path | None
) -> ImageOutcome:
    async with read_images(location) as images:
        found = await resolve_run(images, reference)
        return await _carry_out(images, location, found, watch, sheet)


async def _carry_out(
    images: ImageRuns,
    location: ProjectLocation,
    started: ImageRun,
    watch: ImageWatch,
    sheet: Path | None,
) -> ImageOutcome:
    watch.note(started)
    ended = started
    if not started.status.ended:
        ended = await images.execute(started.run_id, progress=watch.note)
        watch.note(ended)
    return ImageOutcome(ended, await write_sheet(images, location, ended, sheet))


async def write_sheet(
    images: ImageRuns, location: ProjectLocation, ended: ImageRun, given: Path | None
) -> Path | None:
    """The contact sheet's path; None when there is no picture to put on it."""
    if not any(variant.image for variant in ended.variants):
        return None
    path = sheet_path(location, ended.run_id, given)
    write_picture(path, await images.contact_sheet(ended.run_id))
    return path


def exit_code(streams: Streams, ended: ImageRun) -> int:
    """0 also for a degraded run, with a warning; a failed one says why."""
    if ended.status is ImageRunStatus.COMPLETED_DEGRADED:
        lines = [("warning", "the run is degraded: something was replaced by a fallback")]
        print_notice(streams, [*lines, *(("why", words) for words in ended.degradations)])
    if ended.status is ImageRunStatus.CANCELLED:
        return _STOPPED_BY_SOMEBODY
    if ended.status is not ImageRunStatus.FAILED:
        return 0
    error = ended.error or {}
    lines = [("error", "the image run failed"), ("why", str(error.get("message", "unknown")))]
    print_notice(streams, [*lines, ("fix", str(error.get("fix", "run it again")))])
    if error.get("retryable"):
        return UnavailableError.exit_code
    return InvariantError.exit_code if error.get("code") == _BUG else UsageError.exit_code
