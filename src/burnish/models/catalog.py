"""Models by name."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import TypeGuard

from burnish.domain import CallCache, Model, ModelRequest, UsageError
from burnish.models.cached_model import CachedModel
from burnish.models.callable_model import CallableModel, TextFunction
from burnish.models.openai.chat import OpenAIModel
from burnish.models.openai.responses import OpenAIResponsesModel
from burnish.models.replay import ReplayModel
from burnish.models.scripted import ScriptedModel, last_user_message
from burnish.models.settings import ModelSettings


def open_model(
    name: str, settings: ModelSettings | None = None, *, cache: CallCache | None = None
) -> Model:
    """The model of a name such as `openai/gpt-4o-mini`, `local/smollm2-135m` or `replay/FILE`.

    With a cache, and unless the settings turn it off, calls are remembered.
    """
    chosen = settings or ModelSettings()
    provider, slash, rest = name.partition("/")
    if not slash or not rest:
        raise _unusable(name, "it is not of the form provider/name", _forms())
    opener = _PROVIDERS.get(provider)
    if opener is None:
        close = difflib.get_close_matches(provider, _PROVIDERS, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]}/{rest}? " if close else ""
        raise _unusable(name, f"there is no provider {provider!r}", hint + _forms())
    # The embedded engine promises equal answers bit for bit; a service elsewhere does not.
    return _remembering(opener(rest, chosen), chosen, cache, steady=provider == "local")


def as_model(
    value: str | Model | TextFunction,
    settings: ModelSettings | None = None,
    *,
    cache: CallCache | None = None,
) -> Model:
    """A model from its name, from a function of text to text, or as it is."""
    if isinstance(value, str):
        return open_model(value, settings, cache=cache)
    if isinstance(value, CachedModel):
        return value
    if _is_model(value):
        return _remembering(value, settings or ModelSettings(), cache)
    if callable(value):
        return _remembering(CallableModel(value), settings or ModelSettings(), cache)
    raise UsageError(
        what="the model cannot be used",
        why=f"it is a {type(value).__name__}",
        fix="give a name such as openai/gpt-4o-mini, or a function from text to text",
        code="unknown_model",
    )


def _remembering(
    model: Model, settings: ModelSettings, cache: CallCache | None, *, steady: bool = False
) -> Model:
    if cache is None or not settings.cache:
        return model
    return CachedModel(model, cache, steady=steady)


def _is_model(value: object) -> TypeGuard[Model]:
    return hasattr(value, "fingerprint") and callable(getattr(value, "complete", None))


def _open_openai(rest: str, settings: ModelSettings) -> Model:
    if settings.api == "responses":
        return OpenAIResponsesModel(rest, settings)
    return OpenAIModel(rest, settings)


def _open_local(rest: str, settings: ModelSettings) -> Model:
    from burnish.models.local.model import open_local  # noqa: PLC0415

    return open_local(rest, settings)


def _open_replay(rest: str, _settings: ModelSettings) -> Model:
    return ReplayModel(rest)


def _open_scripted(rest: str, _settings: ModelSettings) -> Model:
    kind, _, text = rest.partition(":")
    name = f"scripted/{rest}"
    if kind == "constant":
        return ScriptedModel([text], name=name)
    if rest == "echo":
        return ScriptedModel(last_user_message, name=name)
    if rest == "first-label":
        return ScriptedModel(_first_label, name=name)
    raise _unusable(
        name,
        "there is no such script",
        "use scripted/echo, scripted/first-label or scripted/constant:TEXT",
    )


def _first_label(request: ModelRequest) -> str:
    return request.labels[0] if request.labels else ""


_PROVIDERS: dict[str, Callable[[str, ModelSettings], Model]] = {
    "openai": _open_openai,
    "local": _open_local,
    "scripted": _open_scripted,
    "replay": _open_replay,
}


def _forms() -> str:
    return "use one of openai/NAME, local/NAME-or-FILE.gguf, scripted/echo, replay/FILE"


def _unusable(name: str, why: str, fix: str) -> UsageError:
    return UsageError(
        what=f"the model {name!r} cannot be used", why=why, fix=fix, code="unknown_model"
    )
