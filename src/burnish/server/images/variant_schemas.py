"""Variants of an image run, and what a judge says of one."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from burnish.domain.images import VariantStatus
from burnish.server.http.responses import View
from burnish.server.images import examples

_Score = Annotated[float | None, Field(description="From 0 to 1; None before it was judged.")]


class ImageError(BaseModel):
    """Why something failed, in the one shape of errors."""

    code: str
    message: str
    fix: str = ""
    retryable: bool = False


class ImageRubricView(View):
    """A judge's verdict; every number is from 0 to 1."""

    model_config = ConfigDict(json_schema_extra={"examples": [examples.RUBRIC]})

    prompt_adherence: float
    subject_fidelity: float
    composition_quality: float
    style_coherence: float
    technical_artifact_penalty: float
    confidence: float
    failure_tags: list[str]
    strength_tags: list[str]
    rationale: str
    composite_score: float = Field(
        description="0.35 adherence + 0.20 fidelity + 0.20 composition + 0.15 style "
        "- 0.10 artifacts, to 4 decimals."
    )


class ImageVariantView(View):
    """One edit of the anchor."""

    model_config = ConfigDict(json_schema_extra={"examples": [examples.VARIANT]})

    variant_id: str
    variant_prompt: str
    mutation_tags: list[str]
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
    error: ImageError | None
