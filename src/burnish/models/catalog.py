"""Model catalog: opens a model by its name, behind the call cache where there is one."""

from __future__ import annotations

import asyncio
import difflib
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeGuard

from burnish.domain import (
    BatchRecords,
    BurnishError,
    CallCache,
    Json,
    Model,
    ModelRequest,
    ModelResponse,
    PaidAnswerError,
    ToolCall,
    UnavailableError,
    Usage,
    UsageError,
    current_payer,
    exact_hash,
)
from burnish.models.callable_model import CallableModel, TextFunction
from burnish.models.openai.models import OpenAIModel, OpenAIResponsesModel
from burnish.models.openai.presets import PRESETS
from burnish.models.pricing import PricedModel
from burnish.models.replay import ReplayModel
from burnish.models.scripted import ScriptedModel, last_user_message
from burnish.models.settings import ModelSettings
from burnish.support.deadlines import waiting
from burnish.support.entry_points import Seam

SEAM = Seam(
    group="burnish.models",
    noun="model provider",
    wants="a function (name, settings) that returns a model",
)


def open_model(
    name: str,
    settings: ModelSettings | None = None,
    *,
    cache: CallCache | None = None,
    batches: BatchRecords | None = None,
) -> Model:
    """The model of a name such as `openai/gpt-4o-mini`, `local/smollm2-135m` or `replay/FILE`.

    The provider before the slash is a built-in one, or else that of an installed package. With a
    cache, and unless the settings turn it off, calls are remembered. With `batch` in the settings
    they go in batches, which `batches` keeps; without it the model is known, and cannot be asked.
    """
    chosen = settings or ModelSettings()
    provider, slash, rest = name.partition("/")
    if not slash or not rest:
        raise _unusable(name, "it is not of the form provider/name", _forms())
    opener = _PROVIDERS.get(provider)
    model = _open_third_party(provider, rest, chosen) if opener is None else opener(rest, chosen)
    if chosen.batch:
        return _batched(model, chosen, cache, batches)
    # The embedded engine promises equal answers bit for bit; a service elsewhere does not.
    return _remembering(model, chosen, cache, steady=provider == "local")


def as_model(
    value: str | Model | TextFunction,
    settings: ModelSettings | None = None,
    *,
    cache: CallCache | None = None,
    batches: BatchRecords | None = None,
) -> Model:
    """A model from its name, from a function of text to text, or as it is."""
    if isinstance(value, str):
        return open_model(value, settings, cache=cache, batches=batches)
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


def _batched(
    model: Model, settings: ModelSettings, cache: CallCache | None, batches: BatchRecords | None
) -> Model:
    from burnish.models.batches.model import BatchedModel  # noqa: PLC0415 - seldom needed
    from burnish.models.endpoint.model import EndpointModel  # noqa: PLC0415

    endpoint = model.open_batches() if isinstance(model, EndpointModel) else None
    if endpoint is None:
        raise UsageError(
            what=f"{model.name} cannot be asked in batches",
            why="its provider has no batch endpoint that Burnish knows",
            fix=f'leave batch out, or set batch = false in [models."{model.name}"]',
            code="no_batches",
        )
    if cache is None or batches is None:
        return UnrecordedModel(model)
    return BatchedModel(model, cache, endpoint, batches, max_attempts=settings.max_attempts)


def is_batched(model: Model) -> bool:
    """Whether its requests go in batches."""
    return isinstance(model, CachedModel | UnrecordedModel) and model.batched


def _is_model(value: object) -> TypeGuard[Model]:
    return hasattr(value, "fingerprint") and callable(getattr(value, "complete", None))


def _open_openai(rest: str, settings: ModelSettings) -> Model:
    if settings.api == "responses":
        return OpenAIResponsesModel(rest, settings)
    return OpenAIModel(rest, settings)


def _open_anthropic(rest: str, settings: ModelSettings) -> Model:
    from burnish.models.anthropic.messages import AnthropicModel  # noqa: PLC0415

    return AnthropicModel(rest, settings)


def _open_compatible(provider: str, rest: str, settings: ModelSettings) -> Model:
    from burnish.models.openai.compatible import open_compatible  # noqa: PLC0415

    return open_compatible(provider, rest, settings)


def _open_gemini(rest: str, settings: ModelSettings) -> Model:
    from burnish.models.gemini.vendor import open_gemini  # noqa: PLC0415

    return open_gemini(rest, settings)


def _open_bedrock(rest: str, settings: ModelSettings) -> Model:
    from burnish.models.bedrock.vendor import open_bedrock  # noqa: PLC0415

    return open_bedrock(rest, settings)


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
    if rest == "first-tool":
        return ScriptedModel(_first_tool, name=name)
    raise _unusable(
        name,
        "there is no such script",
        "use scripted/echo, scripted/first-label, scripted/first-tool or scripted/constant:TEXT",
    )


def _first_label(request: ModelRequest) -> str:
    return request.labels[0] if request.labels else ""


def _first_tool(request: ModelRequest) -> str | ModelResponse:
    """Calls the first tool once, with what the user said, and says what it returned."""
    returned = [one.content for one in request.messages if one.role == "tool"]
    if returned or not request.tools:
        return returned[-1] if returned else last_user_message(request)
    tool = request.tools[0]
    fields: Any = tool.parameters.get("properties") or {}
    required: Any = tool.parameters.get("required") or ()
    given = {name: _sample(fields.get(name) or {}, last_user_message(request)) for name in required}
    return ModelResponse(text="", tool_calls=(ToolCall("", tool.name, given),))


def _sample(field: Mapping[str, Any], said: str) -> Json:
    if field.get("enum"):
        first: Json = field["enum"][0]
        return first
    numbers: dict[str, Json] = {
        "integer": 1,
        "number": 1,
        "boolean": True,
        "array": [],
        "object": {},
    }
    return numbers.get(str(field.get("type")), said)


_PROVIDERS: dict[str, Callable[[str, ModelSettings], Model]] = {
    **{name: partial(_open_compatible, name) for name in PRESETS},
    "openai": _open_openai,
    "anthropic": _open_anthropic,
    "gemini": _open_gemini,
    "bedrock": _open_bedrock,
    "local": _open_local,
    "scripted": _open_scripted,
    "replay": _open_replay,
}


def _open_third_party(provider: str, rest: str, settings: ModelSettings) -> Model:
    """A model of an installed package; its calls are priced as those of every endpoint."""
    name = f"{provider}/{rest}"
    make = SEAM.load(provider)
    if make is None:
        known = [*_PROVIDERS, *SEAM.installed()]
        close = difflib.get_close_matches(provider, known, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]}/{rest}? " if close else ""
        way = (
            f"; a server that speaks OpenAI's API is openai/{rest} with its base_url in "
            f'[models."openai/{rest}"]'
        )
        raise _unusable(name, f"there is no provider {provider!r}", hint + _forms() + way)
    try:
        model = make(rest, settings)
    except BurnishError:
        raise
    except Exception as error:
        why = f"its provider fails with {type(error).__name__}: {error}"
        raise SEAM.broken(f"the model {name!r} cannot be opened", why) from error
    if not _is_model(model):
        raise SEAM.broken(
            f"the model {name!r} cannot be used",
            f"its provider returns a {type(model).__name__}",
            "return an object with name, fingerprint, complete and close",
        )
    return PricedModel(model, provider=provider, billed_as=rest, settings=settings)


def _forms() -> str:
    forms = ["openai/NAME", "local/NAME-or-FILE.gguf", "scripted/echo", "replay/FILE"]
    more = sorted({*_PROVIDERS, *SEAM.installed()} - {form.partition("/")[0] for form in forms})
    return f"use one of {', '.join([*forms, *(f'{provider}/…' for provider in more)])}"


def _unusable(name: str, why: str, fix: str) -> UsageError:
    return UsageError(
        what=f"the model {name!r} cannot be used", why=why, fix=fix, code="unknown_model"
    )


class CachedModel:
    """Pays for a request once, in this run or an earlier one.

    Requests of the same content that are under way at the same time share one call. An answer
    from the cache has no usage, because nothing was paid for it now; what it cost and how long it
    took then comes with it. Answers that are drawn at random are cached too: `ModelRequest.repeat`
    tells wanted repeats apart. A `steady` model answers equal requests alike unless it samples, so
    there repeats at temperature 0 are one request.
    """

    batched = False

    def __init__(self, model: Model, cache: CallCache, *, steady: bool = False) -> None:
        self.name = model.name
        self.fingerprint = model.fingerprint
        self.model = model
        self._cache = cache
        self._steady = steady
        self._under_way: dict[str, asyncio.Future[ModelResponse]] = {}

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """The cached answer, the answer somebody is already waiting for, or a new one."""
        if self._steady and not request.parameters.get("temperature"):
            request = replace(request, repeat=0)
        key = call_key(self.fingerprint, request)
        while (flight := self._under_way.get(key)) is not None:
            # Not `await flight`: cancelling this waiter must not cancel the call of another, by
            # whose deadlines it ends.
            with waiting():
                await asyncio.wait([flight])
            if not flight.cancelled():
                return _free(_result_of(flight))
        return await self._lead(key, request)

    async def close(self) -> None:
        """Close the model behind; the cache belongs to whoever opened it."""
        await self.model.close()

    async def _lead(self, key: str, request: ModelRequest) -> ModelResponse:
        flight: asyncio.Future[ModelResponse] = asyncio.get_running_loop().create_future()
        self._under_way[key] = flight
        try:
            response = await self._look_up(key) or await self._pay(key, request)
        except Exception as error:
            flight.set_exception(error)
            flight.exception()  # Read once, so that nobody complains when no one else waits.
            raise
        else:
            flight.set_result(response)
            return response
        finally:
            flight.cancel()  # Only a cancelled call is not done yet; the next waiter leads then.
            del self._under_way[key]

    async def _look_up(self, key: str) -> ModelResponse | None:
        stored = await self._cache.get(key)
        if stored is None or not isinstance(stored.get("text"), str):
            return None
        response, payer = ModelResponse.of(stored), current_payer()
        if payer is not None and stored.get("payer") == payer.name and payer.claim(key):
            return replace(response, cached=True)
        return _free(response)

    async def _pay(self, key: str, request: ModelRequest) -> ModelResponse:
        started = time.perf_counter()
        response = await self.model.complete(request)
        latency_ms = response.latency_ms
        if latency_ms is None:
            latency_ms = (time.perf_counter() - started) * 1000
        entry = {**response.to_json(), "latency_ms": latency_ms}
        payer = current_payer()
        if payer is not None and not payer.counted:
            payer.claim(key)
            entry["payer"] = payer.name
        await self._cache.put(key, entry)
        return response


class UnrecordedModel:
    """A model that is to be asked in batches where no database records them: for checks and plans."""

    batched = True

    def __init__(self, model: Model) -> None:
        self.name = model.name
        self.fingerprint = model.fingerprint
        self.model = model

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """Refused: a crash would pay for it twice."""
        raise UsageError(
            what=f"{self.name} cannot be asked in batches",
            why="there is no database to record them in, so a crash would pay for them twice",
            fix="open it in a run of burnish, or leave batch out",
            code="no_batches",
        )

    async def close(self) -> None:
        """Close the model behind."""
        await self.model.close()


def _result_of(flight: asyncio.Future[ModelResponse]) -> ModelResponse:
    """What somebody else asked for; what a failure cost is theirs to count."""
    error = flight.exception()
    if isinstance(error, PaidAnswerError):
        raise UnavailableError(what=error.what, why=error.why, fix=error.fix, code=error.code)
    return flight.result()


def _free(response: ModelResponse) -> ModelResponse:
    paid = response.usage + response.reused
    return replace(response, usage=Usage(), reused=paid, cached=True)


def call_key(fingerprint: str, request: ModelRequest) -> str:
    """SHA-256 over the model and everything that the answer depends on."""
    asked = request.to_json()
    # 0.0 and 0 have one hash, and without floats it is computed in a tenth of the time.
    asked["parameters"] = {name: _whole(value) for name, value in asked["parameters"].items()}
    return exact_hash([fingerprint, asked])


def _whole(value: Json) -> Json:
    return int(value) if isinstance(value, float) and value.is_integer() else value
