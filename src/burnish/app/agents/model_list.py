"""Models that requests may name, each with whether it can be used now and what it costs."""

from __future__ import annotations

from dataclasses import dataclass

from burnish.app.wiring import ModelPool
from burnish.config.schema import Settings
from burnish.config.served_project import OPENED_BY, may_use
from burnish.config.settings import model_settings
from burnish.domain import BurnishError
from burnish.models.local.catalog import WRITING
from burnish.models.pricing import ListPrice, list_price


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
    cached_input_price: float | None


async def list_models(own: Settings) -> list[ModelState]:
    """Those of the configuration and the embedded ones."""
    embedded = [f"local/{name}" for name in WRITING]
    named = own.named_models()
    names = sorted(named) + [one for one in embedded if one not in named]
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
    price = _price(name, own if allowed else None)
    return ModelState(
        name=name,
        allowed=allowed,
        ready=problem is None,
        problem=problem,
        fix=fix,
        input_price=price.input_price,
        output_price=price.output_price,
        cached_input_price=price.cached_input_price,
    )


def open_providers(own: Settings) -> list[str]:
    """Providers of which requests may name any model."""
    return [provider for provider in OPENED_BY if may_use(f"{provider}/any", own)]


def _price(name: str, own: Settings | None) -> ListPrice:
    try:
        if own is not None:
            return list_price(name, model_settings(own.models, name))
    except BurnishError:
        pass  # Reported as the model's own problem.
    return ListPrice(name=name)
