"""Models that requests may name, each with whether it can be used now and what it costs."""

from __future__ import annotations

import os
from dataclasses import dataclass

from burnish.app.wiring import ModelPool
from burnish.config.schema import Settings
from burnish.config.served_project import OPENED_BY, may_use, own_models
from burnish.config.settings import model_settings
from burnish.domain import BurnishError, Usage
from burnish.models.local.catalog import KNOWN
from burnish.models.pricing import price_call

# Small enough for the first tier of every price, and prices are told for a million.
_TOKENS, _MILLION = 1_000, 1_000_000
_FREE = ("local", "scripted", "replay")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelState:
    """A model by its name. Prices are in USD for a million tokens; None where nobody knows them."""

    name: str
    allowed: bool
    ready: bool
    problem: str | None
    fix: str | None
    input_price: float | None
    output_price: float | None


async def list_models(own: Settings) -> list[ModelState]:
    """Those of the configuration and the embedded ones."""
    embedded = [f"local/{name}" for name in KNOWN]
    names = sorted(own_models(own)) + [one for one in embedded if one not in own_models(own)]
    return [await check_model(name, own) for name in names]


async def check_model(name: str, own: Settings) -> ModelState:
    """One model, which is opened but not asked for anything."""
    allowed = may_use(name, own)
    problem = fix = None
    if not allowed:
        problem = "the server's configuration does not name it"
        fix = f'choose another one, or add [models."{name}"] to burnish.toml'
    else:
        try:
            async with ModelPool(own.models) as pool:
                pool.model(name)
        except BurnishError as error:
            problem, fix = error.why, error.fix
    prices = (None, None) if not allowed else _prices(name, own)
    return ModelState(
        name=name,
        allowed=allowed,
        ready=problem is None,
        problem=problem,
        fix=fix,
        input_price=prices[0],
        output_price=prices[1],
    )


def open_providers(own: Settings) -> list[str]:
    """Providers of which requests may name any model."""
    return [provider for provider in OPENED_BY if may_use(f"{provider}/any", own)]


def _prices(name: str, own: Settings) -> tuple[float | None, float | None]:
    provider, _, model = name.partition("/")
    if provider in _FREE:
        return 0.0, 0.0
    try:
        settings = model_settings(own.models, name)
    except BurnishError:
        return None, None
    if settings.input_price is not None:
        return settings.input_price, settings.output_price
    address = settings.base_url or (
        os.environ.get("OPENAI_BASE_URL") if provider == "openai" else None
    )
    each = (Usage(input_tokens=_TOKENS), Usage(output_tokens=_TOKENS))
    costs = [
        price_call(model, one, settings=settings, base_url=address, provider=provider)
        for one in each
    ]
    read, written = (None if one is None else one * _MILLION / _TOKENS for one in costs)
    return read, written
