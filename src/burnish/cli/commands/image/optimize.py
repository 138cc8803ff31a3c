"""`burnish image optimize`: rounds of image runs, each from the winner before it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from burnish.app.images.documents import optimization_document
from burnish.app.images.models import model_label
from burnish.app.images.runs import ImageRuns
from burnish.cli.commands.image.display import ImageWatch, showing_images
from burnish.cli.commands.image.options import (
    DEFAULT_PROJECT,
    Avoid,
    ImageModel,
    ImageRequest,
    Include,
    JudgeModel,
    Objective,
    PairwiseOption,
    Parent,
    PictureQuality,
    Project,
    Sheet,
    TextModel,
    Variants,
)
from burnish.cli.commands.image.run import exit_code, run_request, write_sheet
from burnish.cli.commands.image.stored import open_images
from burnish.cli.console import Streams
from burnish.cli.display.rows import print_rows, print_steps
from burnish.cli.options import Config, Db, Json, given
from burnish.cli.project_location import ProjectLocation
from burnish.cli.running import run
from burnish.cli.wording import duration, harmless, money, one_line, short_id
from burnish.domain import UsageError
from burnish.domain.images.runs import ImageRun, ObjectivePreset, Quality
from burnish.domain.wording import counted
from burnish.images.rounds import ImageOptimizationResult, RoundsBudget
from burnish.support.ids import new_id

_LIMITS = "How far it may go"
_PROMPT_WIDTH = 60
_WHOLE = 10_000


def optimize(
    context: typer.Context,
    *,
    prompt: Annotated[
        str | None,
        typer.Option("--prompt", "-p", metavar="TEXT", help="What the pictures are to show."),
    ] = None,
    rounds: Annotated[
        int, typer.Option(min=1, max=20, help="At most so many rounds.", rich_help_panel=_LIMITS)
    ] = 3,
    max_images: Annotated[
        int | None,
        typer.Option(min=1, help="At most so many pictures in all.", rich_help_panel=_LIMITS),
    ] = None,
    max_cost_usd: Annotated[
        float | None, typer.Option(help="At most so many dollars.", rich_help_panel=_LIMITS)
    ] = None,
    min_margin: Annotated[
        float | None,
        typer.Option(
            help="Go on only if the winner gained so much.",
            show_default="0.002",
            rich_help_panel=_LIMITS,
        ),
    ] = None,
    min_confidence: Annotated[
        float | None,
        typer.Option(
            help="Go on only if the judge is so sure.",
            show_default="0.2",
            rich_help_panel=_LIMITS,
        ),
    ] = None,
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
    resume_id: Annotated[
        str | None,
        typer.Option("--resume", metavar="ID", help="Go on with one that was stopped."),
    ] = None,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Run several rounds, each from the winner before it, while it gets better and the judge is sure.

    A round is a run of its own, which `burnish image list` shows.
    """
    request = ImageRequest(
        prompt=prompt or "",
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
    limits = given(
        {
            "rounds": rounds,
            "max_images": max_images,
            "max_cost_usd": max_cost_usd,
            "min_margin": min_margin,
            "min_confidence": min_confidence,
        }
    )
    if resume_id is None and not prompt:
        raise UsageError(
            what="there is nothing to draw",
            why="neither --prompt nor --resume is given",
            fix='say what the pictures are to show with --prompt "…"',
            code="INVALID_REQUEST",
        )
    streams: Streams = context.obj
    location = ProjectLocation.of(context, config, db)
    identity = resume_id or new_id()
    watch = ImageWatch(resume=_continuing(identity, limits))
    work = _optimize(
        location,
        None if resume_id else request,
        budget=RoundsBudget(**limits),
        optimization_id=identity,
        progress=watch.note,
        sheet=sheet,
    )
    started = time.monotonic()
    with showing_images(streams.messages, watch):
        result, written = run(work, note=lambda: watch.kept(location))
    seconds = time.monotonic() - started
    if streams.json_output:
        path = None if written is None else str(written)
        streams.print_document({**optimization_document(result), "contact_sheet": path})
    else:
        _print_rounds(streams.console, result, location, sheet=written, seconds=seconds)
    raise typer.Exit(exit_code(streams, result.rounds[-1].run) if result.rounds else 0)


def _continuing(optimization_id: str, limits: Mapping[str, Any]) -> tuple[str, ...]:
    """The words of the command that goes on within the same limits."""
    words = ["image", "optimize", "--resume", optimization_id]
    for name, value in limits.items():
        words += [f"--{name.replace('_', '-')}", f"{value:g}"]
    return tuple(words)


async def _optimize(
    location: ProjectLocation,
    asked: ImageRequest | None,
    *,
    budget: RoundsBudget,
    optimization_id: str,
    progress: Callable[[ImageRun], None],
    sheet: Path | None,
) -> tuple[ImageOptimizationResult, Path | None]:
    """The rounds; what was asked for is stored where they are resumed."""
    async with open_images(location) as images:
        request = None if asked is None else await run_request(images, asked)
        result = await images.optimize(
            request, budget=budget, optimization_id=optimization_id, progress=progress
        )
        return result, await _sheet(images, location, result, sheet)


async def _sheet(
    images: ImageRuns,
    location: ProjectLocation,
    result: ImageOptimizationResult,
    given: Path | None,
) -> Path | None:
    """Of the round with the best picture, else of the last one."""
    kept = [one for one in result.rounds if one.kept]
    shown = kept or list(result.rounds)
    return await write_sheet(images, location, shown[-1].run, given) if shown else None


def _print_rounds(
    console: Console,
    result: ImageOptimizationResult,
    location: ProjectLocation,
    *,
    sheet: Path | None,
    seconds: float,
) -> None:
    """Each round with what it gained, the best picture, and why it stopped."""
    verdict = ("better", "green") if result.improved else ("nothing was better", "yellow")
    console.print(
        Text.assemble(
            (counted(len(result.rounds), "round"), "bold"),
            (f"  {verdict[0]}", verdict[1]),
            (f" in {duration(seconds)}", "dim"),
        )
    )
    for one in result.rounds[:1]:
        asked = one.run.request
        drawer, judge = model_label(asked.image_model), model_label(asked.judge_model)
        console.print(Text(f"drawn by {drawer}, judged by {judge}", style="dim"), soft_wrap=True)
    console.print(_table(result))
    console.print()
    best = result.best_score
    rows = [
        ("best", Text("not scored" if best is None else f"{best:.4f}", style="bold cyan")),
        ("prompt", Text(one_line(result.best_prompt, _WHOLE))),
        ("stopped by", Text(harmless(f"{result.ended.value}: {result.why}"))),
        ("drawn", Text(counted(result.images, "picture"))),
        ("spent", Text(money(result.spending.total.cost_usd))),
    ]
    if sheet is not None:
        rows.append(("pictures", Text(str(sheet), style="cyan")))
    print_rows(console, rows)
    if result.rounds and result.best_commit_id is not None:
        project = result.rounds[0].run.request.project_id
        commit = short_id(result.best_commit_id)
        words = ["image", "run", "--project", project, "--parent", commit, "--prompt"]
        console.print()
        print_steps(console, [(f"{location.command(*words)} …", "goes on from the best")])


def _table(result: ImageOptimizationResult) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    paired = any(one.over_parent is not None for one in result.rounds)
    beside = ("over parent",) if paired else ()
    for column in ("round", "began at", "winner", "gain", *beside, "sure"):
        table.add_column(column, justify="right", no_wrap=True)
    for column in ("kept", "run", "prompt"):
        table.add_column(column, no_wrap=column != "prompt")
    for one in result.rounds:
        rubric = one.winner.rubric if one.winner is not None else None
        score = one.winner.composite_score if one.winner is not None else None
        table.add_row(
            str(one.number),
            "" if one.parent_score is None else f"{one.parent_score:.4f}",
            "" if score is None else f"{score:.4f}",
            "" if one.margin is None else f"{one.margin:+.4f}",
            *(["" if one.over_parent is None else f"{one.over_parent:g}"] if paired else []),
            "" if rubric is None else f"{rubric.confidence:.2f}",
            Text("yes", style="green") if one.kept else Text("no", style="dim"),
            short_id(one.run.run_id),
            Text(one_line(one.run.request.base_prompt, _PROMPT_WIDTH)),
        )
    return table
