"""Image runs: what is asked for, how a run and its variants stand, and which models it can name."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BaseModel, Field

from burnish.app.images.documents import run_document
from burnish.app.images.models import ImageModelOption, ImageModels, full_name
from burnish.app.images.requests import LONGEST_TERM, MOST_TERMS
from burnish.config.schema import ImagesTable
from burnish.domain.images.runs import (
    MIN_PROMPT_LENGTH,
    Constraints,
    ImageRun,
    ImageRunRequest,
    ImageRunStatus,
    ObjectivePreset,
    Quality,
    VariantStatus,
)
from burnish.images.planning import LONGEST_PROMPT
from burnish.server.http.requests import Strict
from burnish.server.http.responses import Page, View
from burnish.server.images.paths import PROJECT
from burnish.support.names import NAME_PATTERN

_Score = Annotated[float | None, Field(description="From 0 to 1; None before it was judged.")]
ProjectName = Annotated[str, Field(pattern=NAME_PATTERN, examples=[PROJECT])]
ModelName = Annotated[str, Field(min_length=1, max_length=200)]
_Wish = Annotated[str, Field(min_length=1, max_length=LONGEST_TERM)]
_OWN_ID = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
_Wishes = Annotated[list[_Wish], Field(max_length=MOST_TERMS)]


class ImageError(BaseModel):
    """Why something failed, in the one shape of errors."""

    code: str
    message: str
    fix: str = ""
    retryable: bool = False


class ImageRubricView(View):
    """A judge's verdict; every number is from 0 to 1."""

    prompt_adherence: float
    subject_fidelity: float
    composition_quality: float
    style_coherence: float
    technical_artifact_penalty: float
    confidence: float
    failure_tags: list[str]
    strength_tags: list[str]
    rationale: str
    not_measured: list[str] = Field(
        description="Names of the numbers that the judge could not measure: they stand in the middle."
    )
    composite_score: float = Field(
        description="0.35 adherence + 0.20 fidelity + 0.20 composition + 0.15 style "
        "- 0.10 artifacts, to 4 decimals."
    )


class PreferenceView(View):
    """How the judge sees a picture against another, asked in both orders."""

    other: str = Field(description="A variant's id, or `anchor`.")
    value: float | None = Field(
        description="1 better, 0 worse, 0.5 a tie; None where it gave no verdict."
    )
    reason: str


class PairwiseView(View):
    """A variant against the others, and the best against the anchor."""

    preferences: list[PreferenceView]
    win_rate: float | None = Field(
        description="The chance to beat a variant of average strength, by Bradley and Terry."
    )
    interval: list[float] | None = Field(description="Its 95% interval.")


class ImageVariantView(View):
    """One edit of the anchor."""

    variant_id: str
    variant_prompt: str
    mutation_tags: list[str]
    not_drawn: list[str] = Field(description="Words that its model says it left out.")
    status: VariantStatus
    rank: int | None = Field(description="From 1; None when it is not ranked.")
    parent_commit_id: str | None
    commit_id: str | None
    image_url: str | None
    thumbnail_url: str | None
    generation_latency_ms: float | None
    judge_latency_ms: float | None
    composite_score: float | None
    prompt_adherence: _Score
    subject_fidelity: _Score
    composition_quality: _Score
    style_coherence: _Score
    technical_artifact_penalty: _Score
    confidence: _Score
    rationale: str | None
    strength_tags: list[str]
    failure_tags: list[str]
    rubric: ImageRubricView | None = Field(
        description="The same together; None before it was judged."
    )
    pairwise: PairwiseView | None = Field(
        description="None where variants were not compared with each other."
    )
    error: ImageError | None


class ImageModelView(View):
    """One model that can be named."""

    name: str | None = Field(description="None: templates, which need no model.")
    label: str = Field(description="What it is, for people.")
    default: bool = Field(description="A run uses it when it names none.")
    usable: bool
    why_not: str | None = Field(description="What it lacks; None when it can be used.")

    @classmethod
    def of(cls, option: ImageModelOption) -> ImageModelView:
        """From what the server knows of it."""
        return cls.read(option, usable=option.why_not is None)


class ImageModelDefaults(BaseModel):
    """What a run uses when it names none."""

    image_model: str
    judge_model: str
    text_model: str | None = Field(description="None: templates plan and suggest.")


class ImageModelsView(BaseModel):
    """All that can be named here."""

    image_models: list[ImageModelView]
    judge_models: list[ImageModelView]
    text_models: list[ImageModelView]
    defaults: ImageModelDefaults

    @classmethod
    def of(cls, models: ImageModels) -> ImageModelsView:
        """From what the server knows of them."""
        options, usual = models.options(), models.settings.table
        kinds = {
            kind: [ImageModelView.of(one) for one in options if one.kind == kind]
            for kind in ("image", "judge", "text")
        }
        return cls(
            image_models=kinds["image"],
            judge_models=kinds["judge"],
            text_models=kinds["text"],
            defaults=ImageModelDefaults(
                image_model=full_name(usual.image_model),
                judge_model=full_name(usual.judge_model),
                text_model=None if usual.text_model is None else full_name(usual.text_model),
            ),
        )


class ImageConstraints(Strict):
    """What every picture must show, and what none may."""

    must_include: _Wishes = Field(default_factory=list, examples=[["chef hat"]])
    must_avoid: _Wishes = Field(default_factory=list, examples=[["text"]])


class NewImageRun(Strict):
    """An image run to start. Models that are left out are as `GET /image-models` says."""

    project_id: ProjectName = Field(description="Made when there is none of that name.")
    base_prompt: Annotated[
        str,
        Field(
            min_length=MIN_PROMPT_LENGTH,
            max_length=LONGEST_PROMPT,
            description="What the pictures are to show.",
            examples=["cinematic portrait of an astronaut chef in a neon diner"],
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
        default=None,
        description="Plans and suggests; `templates` where the usual model is not to.",
        examples=["templates"],
    )
    judge_prompt: Annotated[str, Field(max_length=LONGEST_PROMPT)] | None = Field(
        default=None,
        description="What the pictures are judged by, where the wish was first said otherwise.",
    )
    run_id: Annotated[str, Field(pattern=_OWN_ID)] | None = Field(
        default=None,
        description="An id of one's own, a UUID: the same sent again is the same run.",
    )
    pairwise: bool | None = Field(
        default=None,
        description="Compare the variants with each other in both orders, and rank by that; else as "
        "`[images]` has it.",
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
        models = ("image_model", "judge_model", "text_model")
        wishes = self.constraints
        return ImageRunRequest(
            **self.model_dump(exclude={*models, "constraints", "run_id", "pairwise"}),
            **{name: getattr(self, name) or getattr(usual, name) for name in models},
            pairwise=usual.pairwise if self.pairwise is None else self.pairwise,
            constraints=Constraints(
                must_include=tuple(wishes.must_include), must_avoid=tuple(wishes.must_avoid)
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
    pairwise: bool = Field(description="Whether variants are compared with each other.")
    n_variants: int
    quality: Quality
    constraints: ImageConstraintsView
    parent_commit_id: str | None
    anchor_commit_id: str | None = Field(
        description="The commit that the variants are edits of; None before it is known."
    )
    status: ImageRunStatus
    stage: ImageRunStatus = Field(description="The stage it is in; once it ended, how.")
    last_stage: ImageRunStatus = Field(description="The stage it is in, or was in when it ended.")
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
    def of(cls, run: ImageRun) -> Self:
        """From what is stored."""
        return cls(**run_document(run))


class ImageRunView(ImageRunLine):
    """One run as it stands, whole."""

    variants: list[ImageVariantView]
    leaderboard: list[ImageVariantView] = Field(description="The ranked ones, the best first.")
    suggestions: ImageSuggestionsView | None
    spending: dict[str, Any] = Field(description="Calls, tokens and cost, also `by_purpose`.")


class ImageRunPage(Page[ImageRunLine]):
    """Some runs; `next_cursor` is None on the last page."""
