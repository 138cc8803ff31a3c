"""Image runs: what is asked for, and how one stands."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from burnish.app.images.documents import run_document
from burnish.app.images.requests import LONGEST_TERM, MOST_TERMS
from burnish.app.names import NAME_PATTERN
from burnish.config.schema import ImagesTable
from burnish.domain.images import (
    MIN_PROMPT_LENGTH,
    Constraints,
    ImageRun,
    ImageRunRequest,
    ImageRunStatus,
    ObjectivePreset,
    Quality,
)
from burnish.images.planning import LONGEST_PROMPT
from burnish.server.http.requests import Strict
from burnish.server.http.responses import View
from burnish.server.images import examples
from burnish.server.images.variant_schemas import ImageError, ImageVariantView

ProjectName = Annotated[str, Field(pattern=NAME_PATTERN, examples=[examples.PROJECT_ID])]
ModelName = Annotated[str, Field(min_length=1, max_length=200)]
_Wish = Annotated[str, Field(min_length=1, max_length=LONGEST_TERM)]
_Wishes = Annotated[list[_Wish], Field(max_length=MOST_TERMS)]


class ImageConstraints(Strict):
    """What every picture must show, and what none may."""

    must_include: _Wishes = Field(default_factory=list, examples=[["chef hat"]])
    must_avoid: _Wishes = Field(default_factory=list, examples=[["text"]])


class NewImageRun(Strict):
    """An image run to start. Models that are left out are as `GET /image-models` says."""

    model_config = ConfigDict(json_schema_extra={"examples": [examples.REQUEST]})

    project_id: ProjectName = Field(description="Made when there is none of that name.")
    base_prompt: Annotated[
        str,
        Field(
            min_length=MIN_PROMPT_LENGTH,
            max_length=LONGEST_PROMPT,
            description="What the pictures are to show.",
            examples=[examples.PROMPT],
        ),
    ]
    objective_preset: Annotated[ObjectivePreset, Field(strict=False)] = Field(
        description="What they are to be good at."
    )
    image_model: ModelName | None = Field(
        default=None, description="Draws. `sketch` works offline.", examples=["sketch"]
    )
    judge_model: ModelName | None = Field(
        default=None, description="Scores. `pixel-judge` works offline.", examples=["pixel-judge"]
    )
    text_model: ModelName | None = Field(
        default=None, description="Plans and suggests; without one, templates do."
    )
    n_variants: Annotated[int, Field(ge=2, le=3)] = 3
    quality: Annotated[Quality, Field(strict=False)] = Quality.MEDIUM
    parent_commit_id: Annotated[str, Field(min_length=1, max_length=100)] | None = Field(
        default=None,
        description="A commit of the project with a picture, of which the variants are edits; "
        "without one, a first picture is made.",
    )
    constraints: ImageConstraints = Field(default_factory=ImageConstraints)

    def request(self, usual: ImagesTable) -> ImageRunRequest:
        """What is asked for, with the usual models where none is named."""
        return ImageRunRequest(
            project_id=self.project_id,
            base_prompt=self.base_prompt,
            objective_preset=self.objective_preset,
            image_model=self.image_model or usual.image_model,
            judge_model=self.judge_model or usual.judge_model,
            text_model=self.text_model or usual.text_model,
            n_variants=self.n_variants,
            quality=self.quality,
            parent_commit_id=self.parent_commit_id,
            constraints=Constraints(
                must_include=tuple(self.constraints.must_include),
                must_avoid=tuple(self.constraints.must_avoid),
            ),
        )


class ImageConstraintsView(View):
    """What was asked of every picture."""

    must_include: list[str]
    must_avoid: list[str]


class ImageRunProgress(BaseModel):
    """Counters of variants; those that failed have no picture."""

    total_variants: int
    generated_variants: int
    evaluated_variants: int
    failed_variants: int


class ImageSuggestionsView(View):
    """Three prompts to go on with, from careful to bold."""

    conservative: str
    balanced: str
    aggressive: str


class ImageRunLine(View):
    """One run in a list."""

    model_config = ConfigDict(json_schema_extra={"examples": [examples.LINE]})

    run_id: str
    project_id: str
    base_prompt: str
    judge_prompt: str | None = Field(
        description="What the pictures are judged by, where that is not the base prompt: a later "
        "round is measured by the wish of the first."
    )
    objective_preset: ObjectivePreset
    image_model: str
    judge_model: str
    text_model: str | None
    n_variants: int
    quality: Quality
    constraints: ImageConstraintsView
    parent_commit_id: str | None
    anchor_commit_id: str | None = Field(
        description="The commit that the variants are edits of; None before it is known."
    )
    status: ImageRunStatus
    stage: ImageRunStatus = Field(description="The last stage it was in, also once it ended.")
    stage_message: str
    progress_percent: float
    progress: ImageRunProgress
    degraded: bool = Field(description="Something was replaced by a fallback.")
    degradations: list[str] = Field(description="What, in words.")
    error: ImageError | None
    top_k: list[str] = Field(description="Ids of the best variants, at most three.")
    cancel_requested: bool
    revision: int = Field(description="Grows with every stored change; the id of its event.")
    created_at: str
    updated_at: str
    completed_at: str | None

    @classmethod
    def of(cls, run: ImageRun) -> ImageRunLine:
        """From what is stored."""
        return cls(**run_document(run))


class ImageRunView(ImageRunLine):
    """One run as it stands, whole."""

    model_config = ConfigDict(json_schema_extra={"examples": [examples.RUN]})

    variants: list[ImageVariantView]
    leaderboard: list[ImageVariantView] = Field(description="The ranked ones, the best first.")
    suggestions: ImageSuggestionsView | None
    spending: dict[str, Any] = Field(description="Calls, tokens and cost, also `by_purpose`.")

    @classmethod
    def of(cls, run: ImageRun) -> ImageRunView:
        """From what is stored."""
        return cls(**run_document(run))


class ImageRunPage(BaseModel):
    """Some runs; `next_cursor` is None on the last page."""

    items: list[ImageRunLine]
    next_cursor: str | None
