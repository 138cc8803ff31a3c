"""Which models can draw, judge and write for image runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from burnish.app.images.model_options import ImageModelOption, full_name
from burnish.config.schema import ImagesTable
from burnish.server.http.responses import View

_SKETCH: dict[str, Any] = {
    "name": "sketch",
    "label": "sketch (offline, drawn by rules)",
    "default": True,
    "usable": True,
    "why_not": None,
}
_OPENAI: dict[str, Any] = {
    "name": "openai/gpt-image-1-mini",
    "label": "gpt-image-1-mini",
    "default": False,
    "usable": False,
    "why_not": "OPENAI_API_KEY is not set",
}


class ImageModelView(View):
    """One model that can be named."""

    model_config = ConfigDict(json_schema_extra={"examples": [_SKETCH, _OPENAI]})

    name: str | None = Field(description="None: templates, which need no model.")
    label: str = Field(description="What it is, for people.")
    default: bool = Field(description="A run uses it when it names none.")
    usable: bool
    why_not: str | None = Field(description="What it lacks; None when it can be used.")

    @classmethod
    def of(cls, option: ImageModelOption) -> ImageModelView:
        """From what the server knows of it."""
        return cls(
            name=option.name,
            label=option.label,
            default=option.default,
            usable=option.why_not is None,
            why_not=option.why_not,
        )


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
    def of(cls, options: Sequence[ImageModelOption], usual: ImagesTable) -> ImageModelsView:
        """From what the server knows of them."""
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
                text_model=usual.text_model,
            ),
        )
