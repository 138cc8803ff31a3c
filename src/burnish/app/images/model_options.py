"""Which models an image run may name, and whether they can be used here.

A model that cannot be used is refused, with what is missing; it is never replaced by another.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from importlib.util import find_spec

from burnish.app.images.settings import ImageSettings
from burnish.config.settings import model_settings
from burnish.domain import UsageError
from burnish.models.settings import ModelSettings

SKETCH = "sketch"
PIXEL_JUDGE = "pixel-judge"
OPENAI = "openai/"
OPENAI_IMAGE_MODEL = f"{OPENAI}gpt-image-1-mini"
OPENAI_JUDGE = f"{OPENAI}gpt-4.1-mini"
_BARE_OPENAI = ("gpt-", "dall-e", "chatgpt-")
_OFFLINE = {"image": SKETCH, "judge": PIXEL_JUDGE}
_WHAT = {"image": "image model", "judge": "judge", "text": "text model"}
_LABELS = {
    SKETCH: "sketch (offline, drawn by rules)",
    PIXEL_JUDGE: "pixel-judge (offline, counts pixels, understands nothing)",
}
_KEY = "OPENAI_API_KEY"
_USUAL_SECONDS = ModelSettings().timeout_seconds
_PICTURE_SECONDS = 180.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageModelOption:
    """A model that a run may name, of the kind image, judge or text. `why_not` is None when it can
    be used here; a text model named None stands for the templates."""

    kind: str
    name: str | None
    label: str
    default: bool
    why_not: str | None = None


def full_name(name: str) -> str:
    """With the provider before it: OpenAI's own names may be given bare."""
    return f"{OPENAI}{name}" if name.startswith(_BARE_OPENAI) else name


def image_model_options(settings: ImageSettings) -> tuple[ImageModelOption, ...]:
    """The offline ones first, then those that the configuration names or that everybody knows."""
    table = settings.table
    names = {
        "image": (SKETCH, OPENAI_IMAGE_MODEL, table.image_model),
        "judge": (PIXEL_JUDGE, OPENAI_JUDGE, table.judge_model),
    }
    chosen = {"image": table.image_model, "judge": table.judge_model}
    found = [
        ImageModelOption(
            kind=kind,
            name=name,
            label=_LABELS.get(name, name),
            default=name == full_name(chosen[kind]),
            why_not=why_not(kind, name, settings),
        )
        for kind, known in names.items()
        for name in dict.fromkeys(full_name(one) for one in known)
    ]
    templates = ImageModelOption(
        kind="text",
        name=None,
        label="templates (offline, no model)",
        default=table.text_model is None,
    )
    named = [] if table.text_model is None else [table.text_model]
    texts = [ImageModelOption(kind="text", name=one, label=one, default=True) for one in named]
    return (*found, templates, *texts)


def why_not(kind: str, name: str, settings: ImageSettings) -> str | None:
    """Why a model that draws or judges cannot be used here; None when it can."""
    obstacle = _obstacle(kind, name, settings)
    return None if obstacle is None else obstacle.why


def require_usable(kind: str, name: str, settings: ImageSettings) -> None:
    """Refuse a model that cannot be used here, with the way to mend it."""
    obstacle = _obstacle(kind, name, settings)
    if obstacle is None:
        return
    if name.startswith(OPENAI):
        openai_settings(name, settings)  # Says itself what is wrong with the table.
    raise UsageError(
        what=f"the {_WHAT[kind]} {name[:100]!r} cannot be used",
        why=obstacle.why,
        fix=obstacle.fix,
        code=obstacle.code,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Obstacle:
    """What keeps a model from being used, and the way to mend it."""

    why: str
    fix: str
    code: str


def _obstacle(kind: str, name: str, settings: ImageSettings) -> _Obstacle | None:
    offline = _OFFLINE[kind]
    if find_spec("PIL") is None:
        return _Obstacle(
            why="Pillow is not installed", fix="pip install 'burnish[images]'", code="missing_extra"
        )
    if name == offline:
        return None
    if not name.startswith(OPENAI) or name == OPENAI:
        return _Obstacle(
            why="there is no such model",
            fix=f"use {offline} or openai/NAME",
            code="INVALID_REQUEST",
        )
    try:
        chosen = openai_settings(name, settings)
    except UsageError as error:  # A table that cannot be read keeps nobody from the other models.
        return _Obstacle(why=str(error), fix=error.fix, code=error.code)
    variable = _KEY if chosen.api_key_env is None else chosen.api_key_env
    # Another address than OpenAI's may want no key, unless one is named.
    if not variable or (chosen.api_key_env is None and chosen.base_url is not None):
        return None
    if os.environ.get(variable):
        return None
    return _Obstacle(
        why=f"{variable} is not set",
        fix=f"put your key into that variable, or use {offline}, which needs none",
        code="missing_key",
    )


def openai_settings(name: str, settings: ImageSettings) -> ModelSettings:
    """Those of `[models]`, with the address and key of `[images]` over them."""
    chosen = model_settings(settings.models, name)
    table = settings.table
    if chosen.timeout_seconds == _USUAL_SECONDS:
        # A large picture takes minutes where a text takes seconds.
        chosen = replace(chosen, timeout_seconds=_PICTURE_SECONDS)
    if table.base_url is not None:
        chosen = replace(chosen, base_url=table.base_url)
    if table.api_key_env is not None:
        chosen = replace(chosen, api_key_env=table.api_key_env)
    return chosen
