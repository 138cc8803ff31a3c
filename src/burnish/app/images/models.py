"""Models that draw and judge: which may be named, and each opened once by name."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from burnish.app.images.settings import ImageSettings
from burnish.config.settings import model_settings
from burnish.domain import BurnishError, Model, UsageError
from burnish.domain.images.protocols import ImageJudge, ImageModel
from burnish.domain.images.runs import ImageRunRequest
from burnish.images.stage_context import RunLabels, RunModels
from burnish.models.settings import ModelSettings

SKETCH = "sketch"
PIXEL_JUDGE = "pixel-judge"
OPENAI = "openai/"
OPENAI_IMAGE_MODEL = f"{OPENAI}gpt-image-1-mini"
OPENAI_JUDGE = OPENAI_TEXT = f"{OPENAI}gpt-4.1-mini"
# The name by which a request asks for no text model where one is usual.
TEMPLATES = "templates"
_BARE_OPENAI = ("gpt-", "dall-e", "chatgpt-")
_OFFLINE = {"image": SKETCH, "judge": PIXEL_JUDGE, "text": TEMPLATES}
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


def model_label(name: str) -> str:
    """What people are told of a model that draws or judges."""
    return _LABELS.get(name, name)


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
            label=model_label(name),
            default=name == full_name(chosen[kind]),
            why_not=getattr(_obstacle(kind, name, settings), "why", None),
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
    usual = None if table.text_model is None else full_name(table.text_model)
    texts = [
        ImageModelOption(
            kind="text",
            name=name,
            label=name,
            default=name == usual,
            why_not=getattr(_obstacle("text", name, settings), "why", None)
            if name.startswith(OPENAI)
            else None,
        )
        for name in dict.fromkeys((OPENAI_TEXT, usual))
        if name is not None
    ]
    return (*found, templates, *texts)


def require_usable(kind: str, name: str, settings: ImageSettings) -> None:
    """Refuse a model that cannot be used here, with the way to mend it."""
    obstacle = _obstacle(kind, name, settings)
    if obstacle is None:
        return
    if name.startswith(OPENAI):
        openai_settings(name, settings)  # Says itself what is wrong with the table.
    raise obstacle


def _obstacle(kind: str, name: str, settings: ImageSettings) -> UsageError | None:
    """What keeps a model that draws or judges from being used here, and the way to mend it."""
    what, offline = f"the {_WHAT[kind]} {name[:100]!r} cannot be used", _OFFLINE[kind]
    if find_spec("PIL") is None:
        why, fix = "Pillow is not installed", "pip install 'burnish[images]'"
        return UsageError(what=what, why=why, fix=fix, code="missing_extra")
    if name == offline:
        return None
    if not name.startswith(OPENAI) or name == OPENAI:
        why, fix = "there is no such model", f"use {offline} or openai/NAME"
        return UsageError(what=what, why=why, fix=fix, code="INVALID_REQUEST")
    try:
        chosen = openai_settings(name, settings)
    except UsageError as error:  # A table that cannot be read keeps nobody from the other models.
        return UsageError(what=what, why=str(error), fix=error.fix, code=error.code)
    variable = _KEY if chosen.api_key_env is None else chosen.api_key_env
    # Another address than OpenAI's may want no key, unless one is named.
    if not variable or (chosen.api_key_env is None and chosen.base_url is not None):
        return None
    if os.environ.get(variable):
        return None
    return UsageError(
        what=what,
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


def text_model_tables(settings: ImageSettings) -> dict[str, Any]:
    """`[models]` as the text models of image runs have it: `[images]` has the address and the key.

    OpenAI itself is asked over the Responses API, whose answers keep to a schema strictly; other
    servers may not have it.
    """
    table, provider = settings.table, OPENAI.removesuffix("/")
    over = {"base_url": table.base_url, "api_key_env": table.api_key_env}
    given = {name: value for name, value in over.items() if value is not None}
    tables = {provider: {}, **settings.models}
    for name, one in tables.items():
        if name.split("/", 1)[0] == provider and isinstance(one, Mapping):
            own = {**one, **given}
            elsewhere = own.get("base_url") or os.environ.get("OPENAI_BASE_URL")
            if name == provider or "base_url" in own:
                own.setdefault("api", "chat" if elsewhere else "responses")
            tables[name] = own
    return tables


# What is loaded when it is first used takes a second together.
_OFFLINE_MODULES = ("burnish.images.models", "PIL.PngImagePlugin")
_ONLINE_MODULES = ("burnish.models.endpoint.client", "genai_prices", "httpcore2")


def _load(modules: Iterable[str]) -> None:
    for module in modules:
        # Without an extra it is missing, which whoever needs it says in words.
        with contextlib.suppress(ImportError):
            import_module(module)


class ImageModels:
    """The open models. `drawing` and `judging` are ready ones by name, which tests bring along."""

    def __init__(
        self,
        settings: ImageSettings,
        text: Callable[[str], Model],
        *,
        drawing: Mapping[str, ImageModel] | None = None,
        judging: Mapping[str, ImageJudge] | None = None,
    ) -> None:
        self.settings = settings
        self._text = text
        self._drawing = dict(drawing or {})
        self._judging = dict(judging or {})

    def image(self, name: str) -> ImageModel:
        """What draws, by a name such as `sketch` or `openai/gpt-image-1-mini`."""
        if name not in self._drawing:
            chosen = self._chosen("image", name)
            from burnish.images.models import OpenAIImageModel, SketchModel  # noqa: PLC0415

            self._drawing[name] = OpenAIImageModel(*chosen) if chosen else SketchModel()
        return self._drawing[name]

    def judge(self, name: str) -> ImageJudge:
        """What scores, by a name such as `pixel-judge` or `openai/gpt-4.1-mini`."""
        if name not in self._judging:
            chosen = self._chosen("judge", name)
            from burnish.images.models import OpenAIImageJudge, PixelJudge  # noqa: PLC0415

            self._judging[name] = OpenAIImageJudge(*chosen) if chosen else PixelJudge()
        return self._judging[name]

    def _chosen(self, kind: str, name: str) -> tuple[str, ModelSettings] | None:
        """OpenAI's own name with its settings; None for the offline one."""
        full = full_name(name)
        require_usable(kind, full, self.settings)
        if full == _OFFLINE[kind]:
            return None
        return full.removeprefix(OPENAI), openai_settings(full, self.settings)

    async def load(self, *names: str) -> None:
        """Load what is slow to load, where nobody waits for it: else every request would."""
        online = any(full_name(name).startswith(OPENAI) for name in names)
        await asyncio.to_thread(
            _load, (*_OFFLINE_MODULES, *_ONLINE_MODULES) if online else _OFFLINE_MODULES
        )

    def of(self, image: str, judge: str, text: str | None) -> RunModels:
        """The models of one run."""
        return RunModels(
            image=self.image(image),
            judge=self.judge(judge),
            # It belongs to the workspace, and is closed with it.
            text=None if text is None else self._text(text),
        )

    def labels(self, request: ImageRunRequest) -> RunLabels:
        """Who draws, judges and plans, in words for people; also when one cannot be opened here."""
        return RunLabels(
            image=self._label(self.image, request.image_model),
            judge=self._label(self.judge, request.judge_model),
            text=request.text_model or "templates",
        )

    @staticmethod
    def _label(opened: Callable[[str], ImageModel | ImageJudge], name: str) -> str:
        try:
            return opened(name).label
        except BurnishError:
            return name

    async def close(self) -> None:
        """Close every one that draws or judges."""
        opened: list[ImageModel | ImageJudge] = [*self._drawing.values(), *self._judging.values()]
        for one in opened:
            await one.close()
        self._drawing.clear()
        self._judging.clear()

    def options(self) -> tuple[ImageModelOption, ...]:
        """What a run may name, the offline ones first, and what is missing for the others."""
        return image_model_options(self.settings)
