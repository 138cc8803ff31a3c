"""Options that the commands of `burnish image` share, and what they ask for together."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from burnish.domain.images.runs import Constraints, ImageRunRequest, ObjectivePreset, Quality

if TYPE_CHECKING:
    from burnish.config.schema import ImagesTable

_MODELS = "Models"
DEFAULT_PROJECT = "default"

Prompt = Annotated[
    str, typer.Option("--prompt", "-p", metavar="TEXT", help="What the pictures are to show.")
]
Objective = Annotated[ObjectivePreset, typer.Option(help="What they are to be good at.")]
Variants = Annotated[int, typer.Option(min=2, max=3, help="How many variants.")]
Parent = Annotated[
    str | None,
    typer.Option(
        metavar="COMMIT",
        help="Edit this commit's picture: its id, its beginning or end. Else one is drawn first.",
    ),
]
Project = Annotated[str, typer.Option(metavar="NAME", help="Where the commits belong.")]
PictureQuality = Annotated[Quality, typer.Option(help="How much work a picture is worth.")]
Include = Annotated[
    list[str] | None,
    typer.Option(metavar="TEXT", help="What every picture must show. Repeatable."),
]
Avoid = Annotated[
    list[str] | None, typer.Option(metavar="TEXT", help="What none may show. Repeatable.")
]
ImageModel = Annotated[
    str | None,
    typer.Option(
        help="Draws: sketch, or such as openai/gpt-image-1-mini.",
        show_default="sketch",
        rich_help_panel=_MODELS,
    ),
]
JudgeModel = Annotated[
    str | None,
    typer.Option(
        help="Scores: pixel-judge, or such as openai/gpt-4.1-mini.",
        show_default="pixel-judge",
        rich_help_panel=_MODELS,
    ),
]
TextModel = Annotated[
    str | None,
    typer.Option(help="Plans and suggests; without one, templates do.", rich_help_panel=_MODELS),
]
PairwiseOption = Annotated[
    bool | None,
    typer.Option(
        "--pairwise/--no-pairwise",
        help="Compare variants with each other in both orders, and rank by that.",
        show_default="as [images] has it",
    ),
]
Sheet = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.png",
        help="Where to write all pictures on one sheet.",
        show_default=".burnish/images/sheets/RUN.png after a run",
    ),
]
ImageRunReference = Annotated[
    str,
    typer.Argument(
        metavar="ID", help="A run's id, its beginning or end, or `latest`.", show_default=False
    ),
]
Commit = Annotated[
    str,
    typer.Argument(
        metavar="COMMIT", help="A commit's id, its beginning or end.", show_default=False
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageRequest:
    """What a command line asks for; a model that is None is as `[images]` has it."""

    prompt: str
    objective: ObjectivePreset
    variants: int
    parent: str | None
    project: str
    quality: Quality
    include: tuple[str, ...]
    avoid: tuple[str, ...]
    model: str | None
    judge: str | None
    text_model: str | None
    pairwise: bool | None = None

    def run_request(self, usual: ImagesTable, parent_commit_id: str | None) -> ImageRunRequest:
        """As image runs take it."""
        return ImageRunRequest(
            project_id=self.project,
            base_prompt=self.prompt,
            objective_preset=self.objective,
            image_model=self.model or usual.image_model,
            judge_model=self.judge or usual.judge_model,
            text_model=self.text_model or usual.text_model,
            pairwise=usual.pairwise if self.pairwise is None else self.pairwise,
            n_variants=self.variants,
            quality=self.quality,
            parent_commit_id=parent_commit_id,
            constraints=Constraints(must_include=self.include, must_avoid=self.avoid),
        )
