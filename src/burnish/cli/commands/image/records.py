"""`burnish image list`, `show`, `cancel` and `compare`: what is stored."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from burnish.app.images.documents import comparison_document, progress_percent, run_document
from burnish.app.references import LATEST
from burnish.cli.commands.image.display import STATUS_STYLES, print_image_run, rubric_number
from burnish.cli.commands.image.options import Commit, ImageRunReference, JudgeModel, Sheet
from burnish.cli.commands.image.run import write_sheet
from burnish.cli.commands.image.stored import (
    read_images,
    resolve_commit,
    resolve_run,
    write_picture,
)
from burnish.cli.console import Streams
from burnish.cli.display.rows import print_rows
from burnish.cli.options import Config, Db, Json
from burnish.cli.project_location import ProjectLocation
from burnish.cli.running import run
from burnish.cli.wording import age, one_line, percent, short_id
from burnish.domain.images.runs import ImageComparison, ImageRun, ImageRunStatus

_PROMPT_WIDTH = 50
_WHOLE = 10_000
_NUMBERS = (
    "prompt_adherence",
    "subject_fidelity",
    "composition_quality",
    "style_coherence",
    "technical_artifact_penalty",
    "confidence",
    "composite_score",
)


def list_runs(
    context: typer.Context,
    *,
    project: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only of this project.")
    ] = None,
    status: Annotated[ImageRunStatus | None, typer.Option(help="Only those that are so.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="At most so many.")] = 20,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """List runs, newest first."""
    location = ProjectLocation.of(context, config, db)
    streams: Streams = context.obj
    found = run(_read(location, project, status, limit)) if location.has_database else []
    if streams.json_output:
        streams.print_document({"runs": [image_listing_json(one) for one in found]})
    elif found:
        print_image_runs(streams.console, found)
    else:
        streams.say("no image runs; `burnish image run --prompt …` makes one")


def show(
    context: typer.Context,
    reference: ImageRunReference = LATEST,
    *,
    sheet: Sheet = None,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Show a run: its leaderboard, its suggestions, what went wrong. --sheet writes the pictures."""
    streams: Streams = context.obj
    location = ProjectLocation.of(context, config, db)
    found, written = run(_show(location, reference, sheet))
    if streams.json_output:
        path = None if written is None else str(written)
        streams.print_document({**run_document(found), "contact_sheet": path})
    else:
        print_image_run(streams.console, found, location, sheet=written)


def cancel(
    context: typer.Context,
    reference: ImageRunReference,
    *,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Stop a run, wherever it runs. What was drawn and judged is kept."""
    streams: Streams = context.obj
    location = ProjectLocation.of(context, config, db)
    before, after = run(_cancel(location, reference))
    if streams.json_output:
        streams.print_document(
            {
                "run_id": after.run_id,
                "status": after.status.value,
                "cancelled": after.status is ImageRunStatus.CANCELLED,
                "requested": not before.status.ended,
            }
        )
        return
    streams.say(_words(before, after))


def compare(
    context: typer.Context,
    left: Commit,
    right: Commit,
    *,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the map of differences here."),
    ] = None,
    judge: JudgeModel = None,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Compare two commits of a project: how far their pixels differ, and both rubrics."""
    location = ProjectLocation.of(context, config, db)
    streams: Streams = context.obj
    found = run(_compare(location, (left, right), output, judge))
    if streams.json_output:
        written = None if output is None else str(output)
        streams.print_document({**comparison_document(found), "output": written})
    else:
        print_comparison(streams.console, found, output=output)


async def _read(
    location: ProjectLocation, project: str | None, status: ImageRunStatus | None, limit: int
) -> list[ImageRun]:
    async with read_images(location) as images:
        page = await images.repository.runs(project_id=project, status=status, limit=limit)
        return list(page.items)


async def _show(
    location: ProjectLocation, reference: str, sheet: Path | None
) -> tuple[ImageRun, Path | None]:
    async with read_images(location) as images:
        found = await resolve_run(images, reference)
        if sheet is None:
            return found, None
        return found, await write_sheet(images, location, found, sheet)


async def _cancel(location: ProjectLocation, reference: str) -> tuple[ImageRun, ImageRun]:
    async with read_images(location) as images:
        found = await resolve_run(images, reference)
        return found, await images.cancel(found.run_id)


def _words(before: ImageRun, after: ImageRun) -> str:
    if before.status.ended:
        return f"image run {after.run_id} was {after.status.value} already; nothing was changed"
    if after.status is ImageRunStatus.CANCELLED:
        return f"image run {after.run_id} is cancelled; what it drew and judged is kept"
    return f"image run {after.run_id} was asked to stop; it stops as soon as its owner sees that"


def image_listing_json(run: ImageRun) -> dict[str, Any]:
    """One run as `image list --json` prints it."""
    best = run.leaderboard[0] if run.leaderboard else None
    return {
        "run_id": run.run_id,
        "project_id": run.request.project_id,
        "base_prompt": run.request.base_prompt,
        "objective_preset": run.request.objective_preset.value,
        "image_model": run.request.image_model,
        "n_variants": run.request.n_variants,
        "status": run.status.value,
        "degraded": run.degraded,
        "progress_percent": progress_percent(run),
        "best": None
        if best is None
        else {
            "variant_id": best.variant_id,
            "composite_score": best.composite_score,
            "commit_id": best.commit_id,
        },
        "created_at": run.created_at,
        "completed_at": run.completed_at,
    }


def print_image_runs(console: Console, runs: Sequence[ImageRun]) -> None:
    """The table."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="image runs", title_justify="left")
    for column in ("id", "project", "prompt", "status"):
        table.add_column(column, no_wrap=column == "id", overflow="fold")
    for column in ("best", "variants", "age"):
        table.add_column(column, justify="right", no_wrap=True)
    for one in runs:
        best = one.leaderboard[0].composite_score if one.leaderboard else None
        table.add_row(
            short_id(one.run_id),
            Text(one.request.project_id),
            Text(one_line(one.request.base_prompt, _PROMPT_WIDTH)),
            Text(one.status.value, style=STATUS_STYLES.get(one.status, "cyan")),
            "" if best is None else f"{best:.4f}",
            str(one.request.n_variants),
            age(one.created_at),
        )
    console.print(table)


async def _compare(
    location: ProjectLocation, references: tuple[str, str], output: Path | None, judge: str | None
) -> ImageComparison:
    async with read_images(location) as images:
        left, right = [await resolve_commit(images, one) for one in references]
        found = await images.compare(left, right, judge=judge)
        if output is not None:
            data, _ = await images.image(found.difference_map.digest)
            write_picture(output, data)
        return found


def print_comparison(console: Console, found: ImageComparison, *, output: Path | None) -> None:
    """How far the pixels differ, and what the judge says of each."""
    rows = [
        ("changed", Text(f"{percent(found.changed_share)} of the pixels visibly differ")),
        ("difference", Text(f"{percent(found.mean_difference)} on the average")),
        ("judged by", Text(found.judge)),
    ]
    if found.wish is not None:
        rows.append(("asked for", Text(one_line(found.wish.prompt, _WHOLE))))
    if output is not None:
        rows.append(("map", Text(str(output), style="cyan")))
    print_rows(console, rows)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("rubric")
    left, right = short_id(found.left_commit_id), short_id(found.right_commit_id)
    for column in (left, right, "change"):
        table.add_column(column, justify="right", no_wrap=True)
    for name in _NUMBERS:
        sides = found.left_rubric, found.right_rubric
        change = getattr(sides[1], name) - getattr(sides[0], name)
        measured = all(name not in one.not_measured for one in sides)
        table.add_row(
            name.replace("_", " "),
            *(rubric_number(one, name, 4) for one in sides),
            f"{change:+.4f}" if measured else "",
        )
    console.print(table)
