"""Models that draw and judge, by name; each is opened once and closed with the others."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module

from burnish.app.images.model_options import (
    OPENAI,
    PIXEL_JUDGE,
    SKETCH,
    ImageModelOption,
    full_name,
    image_model_options,
    openai_settings,
    require_usable,
)
from burnish.app.images.settings import ImageSettings
from burnish.domain import BurnishError, Model
from burnish.domain.image_parts import ImageJudge, ImageModel
from burnish.domain.images import ImageRunRequest
from burnish.images.stage_context import RunLabels, RunModels

# What is loaded when it is first used takes a second together.
_OFFLINE = ("burnish.images.models", "PIL.PngImagePlugin")
_SDK = (
    "burnish.models.openai.client",
    "openai.resources.images",
    "openai.resources.responses",
    "genai_prices",
    "httpcore2",
)


def image_model(name: str, settings: ImageSettings | None = None) -> ImageModel:
    """Open the model of a name such as `sketch` or `openai/gpt-image-1-mini`."""
    chosen, full = settings or ImageSettings(), full_name(name)
    require_usable("image", full, chosen)
    if full == SKETCH:
        from burnish.images.models import SketchModel  # noqa: PLC0415

        return SketchModel()
    from burnish.images.models import OpenAIImageModel  # noqa: PLC0415

    return OpenAIImageModel(full.removeprefix(OPENAI), openai_settings(full, chosen))


def image_judge(name: str, settings: ImageSettings | None = None) -> ImageJudge:
    """Open the judge of a name such as `pixel-judge` or `openai/gpt-4.1-mini`."""
    chosen, full = settings or ImageSettings(), full_name(name)
    require_usable("judge", full, chosen)
    if full == PIXEL_JUDGE:
        from burnish.images.models import PixelJudge  # noqa: PLC0415

        return PixelJudge()
    from burnish.images.models import OpenAIImageJudge  # noqa: PLC0415

    return OpenAIImageJudge(full.removeprefix(OPENAI), openai_settings(full, chosen))


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
        """What draws."""
        if name not in self._drawing:
            self._drawing[name] = image_model(name, self.settings)
        return self._drawing[name]

    def judge(self, name: str) -> ImageJudge:
        """What scores."""
        if name not in self._judging:
            self._judging[name] = image_judge(name, self.settings)
        return self._judging[name]

    async def load(self, *names: str) -> None:
        """Load what is slow to load, where nobody waits for it: else every request would."""
        online = any(full_name(name).startswith(OPENAI) for name in names)
        await asyncio.to_thread(_load, (*_OFFLINE, *_SDK) if online else _OFFLINE)

    def text(self, name: str) -> Model:
        """What plans and suggests; it belongs to the workspace, and is closed with it."""
        return self._text(name)

    def of(self, image: str, judge: str, text: str | None) -> RunModels:
        """The models of one run."""
        return RunModels(
            image=self.image(image),
            judge=self.judge(judge),
            text=None if text is None else self.text(text),
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
