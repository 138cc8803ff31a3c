"""`burnish image run`, `resume` and `optimize`: what draws and judges."""

from __future__ import annotations

from typing import Annotated

import typer

from burnish.cli.image_options import (
    Avoid,
    ImageModel,
    ImageRequest,
    ImageRunReference,
    Include,
    JudgeModel,
    Objective,
    Parent,
    PictureQuality,
    Project,
    Prompt,
    Sheet,
    TextModel,
    Variants,
)
from burnish.cli.options import Config, Db, Json
from burnish.cli.project_location import Place
from burnish.cli.references import LATEST
from burnish.domain.images import ObjectivePreset, Quality

_DEFAULT_PROJECT = "default"
_LIMITS = "How far it may go"


def run(
    context: typer.Context,
    prompt: Prompt,
    *,
    objective: Objective = ObjectivePreset.ADHERENCE,
    variants: Variants = 3,
    parent: Parent = None,
    project: Project = _DEFAULT_PROJECT,
    quality: PictureQuality = Quality.MEDIUM,
    include: Include = None,
    avoid: Avoid = None,
    model: ImageModel = None,
    judge: JudgeModel = None,
    text_model: TextModel = None,
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
    )
    from burnish.cli.imaging import run_images  # noqa: PLC0415

    raise typer.Exit(run_images(context.obj, Place.of(context, config, db), request, sheet))


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
    from burnish.cli.imaging import resume_images  # noqa: PLC0415

    raise typer.Exit(resume_images(context.obj, Place.of(context, config, db), reference, sheet))


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
            show_default="0.005",
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
    project: Project = _DEFAULT_PROJECT,
    quality: PictureQuality = Quality.MEDIUM,
    include: Include = None,
    avoid: Avoid = None,
    model: ImageModel = None,
    judge: JudgeModel = None,
    text_model: TextModel = None,
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
    )
    limits = {
        "rounds": rounds,
        "max_images": max_images,
        "max_cost_usd": max_cost_usd,
        "min_margin": min_margin,
        "min_confidence": min_confidence,
    }
    from burnish.cli.image_rounds import RoundsRequest, optimize_images  # noqa: PLC0415

    wanted = RoundsRequest(request=request, limits=limits, resume=resume_id)
    raise typer.Exit(optimize_images(context.obj, Place.of(context, config, db), wanted, sheet))
