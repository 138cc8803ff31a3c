"""Prices of model calls: own ones of the settings, else by the tables of genai-prices."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from burnish.domain import Model, ModelRequest, ModelResponse, Usage
from burnish.models.openai.presets import PRESETS
from burnish.models.price_tables import current_tables
from burnish.models.settings import ModelSettings

if TYPE_CHECKING:
    from genai_prices.types import PriceCalculation

_MILLION = 1_000_000
# What a request costs in a batch, at OpenAI, Anthropic and Google alike.
_BATCH_SHARE = 0.5
# Small enough for the first tier of every price.
_FEW = 1_000
_FREE = ("local", "scripted", "replay")
# Providers that the tables call otherwise.
_CALLED = {"gemini": "google", "bedrock": "aws"}


def price_call(
    model: str,
    usage: Usage,
    *,
    settings: ModelSettings,
    base_url: str | None = None,
    image_tokens: int = 0,
    output_image_tokens: int = 0,
    cache_write_tokens: int = 0,
    provider: str = "openai",
) -> float | None:
    """US dollars, or None where nobody knows the price, or how many tokens there were.

    Prices in the settings win. A `base_url` of None is the provider itself; any other address is
    looked up among the vendors that genai-prices knows. `image_tokens` are those of the input
    that stand for pictures, `output_image_tokens` those of the output, and `cache_write_tokens` those
    of the input that the provider keeps for later requests; some are priced otherwise. Requests
    that go in batches cost half.
    """
    share = _BATCH_SHARE if settings.batch else 1.0
    if settings.input_price == settings.output_price == 0:
        return 0.0
    if not usage.input_tokens + usage.output_tokens:
        return None  # The endpoint did not tell how many there were.
    if settings.input_price is not None and settings.output_price is not None:
        return share * _own_price(usage, settings.input_price, settings.output_price, settings)
    # Named only where there are any: models without pictures have no price for them.
    counts = {
        "input_image_tokens": image_tokens,
        "output_image_tokens": output_image_tokens,
        "cache_write_tokens": min(
            cache_write_tokens, max(0, usage.input_tokens - usage.cached_tokens)
        ),
    }
    parts = {name: tokens for name, tokens in counts.items() if tokens}
    found = _by_tables(model, usage, base_url, parts, provider)
    return None if found is None else share * float(found.total_price)


def price_by_name(name: str, usage: Usage, settings: ModelSettings) -> float | None:
    """What a call of the model PROVIDER/NAME costs; None where nobody knows."""
    provider, model, address = _billed(name, settings)
    if provider is None:
        return 0.0
    return price_call(model, usage, settings=settings, base_url=address, provider=provider)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPrice:
    """A model's price in USD for a million tokens, at first; None where nobody knows it.

    `source` says who knows, `entry` which line of the tables it is.
    """

    name: str
    input_price: float | None = None
    output_price: float | None = None
    cached_input_price: float | None = None
    source: str | None = None
    entry: str | None = None


def list_price(name: str, settings: ModelSettings) -> ListPrice:
    """What a model costs, and who says so."""
    read = Usage(calls=1, input_tokens=_FEW)
    prices = (
        price_by_name(name, usage, settings)
        for usage in (read, Usage(calls=1, output_tokens=_FEW), replace(read, cached_tokens=_FEW))
    )
    first, second, third = (
        None if one is None else round(one * _MILLION / _FEW, 9) for one in prices
    )
    source, entry = _source(name, settings)
    return ListPrice(
        name=name,
        input_price=first,
        output_price=second,
        cached_input_price=third,
        source=source if first is not None else None,
        entry=entry,
    )


def _billed(name: str, settings: ModelSettings) -> tuple[str | None, str, str | None]:
    """By which provider of the tables a model is billed, as what, and at which address.

    No provider bills what runs on this machine.
    """
    provider, slash, model = name.partition("/")
    if not slash:
        provider, model = "openai", name
    preset = PRESETS.get(provider)
    own = settings.input_price is not None
    if provider in _FREE or (preset and not own and preset.runs_here(model, settings.base_url)):
        return None, model, None
    address = settings.base_url
    if provider == "openai":
        address = address or os.environ.get("OPENAI_BASE_URL") or None
    if preset and address == preset.address:
        address = None
    return preset.billed_as if preset else _CALLED.get(provider, provider), model, address


def _source(name: str, settings: ModelSettings) -> tuple[str, str | None]:
    provider, model, address = _billed(name, settings)
    if provider is None:
        return "it runs on this machine", None
    if settings.input_price is not None:
        return "own prices of the settings", None
    found = _by_tables(model, Usage(input_tokens=_FEW), address, {}, provider)
    entry = None if found is None else f"{found.provider.id}/{found.model.id}"
    return current_tables().source, entry


def _own_price(usage: Usage, read: float, written: float, settings: ModelSettings) -> float:
    cached = min(usage.cached_tokens, usage.input_tokens)
    reread = read if settings.cached_input_price is None else settings.cached_input_price
    spent = (usage.input_tokens - cached) * read + cached * reread
    return (spent + usage.output_tokens * written) / _MILLION


def _by_tables(
    model: str, usage: Usage, base_url: str | None, parts: Mapping[str, int], provider: str
) -> PriceCalculation | None:
    import genai_prices  # noqa: PLC0415

    tokens = genai_prices.Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=min(usage.cached_tokens, usage.input_tokens),
        **parts,
    )
    vendor = provider if base_url is None else None
    called = PRESETS[provider].full_name(model) if provider in PRESETS else model
    try:
        return current_tables().snapshot.calc(tokens, called, vendor, base_url, None)
    except (LookupError, ValueError):
        return None


class PricedModel:
    """A model of another package, its calls priced by the settings, else as it says or the tables."""

    def __init__(
        self, model: Model, *, provider: str, billed_as: str, settings: ModelSettings
    ) -> None:
        self.name = model.name
        self.fingerprint = model.fingerprint
        self.model = model
        self._provider = provider
        self._billed_as = billed_as
        self._settings = settings

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """The model's answer with what it cost."""
        response = await self.model.complete(request)
        if response.usage.cost_usd is not None and self._settings.input_price is None:
            return response
        cost = price_call(
            self._billed_as,
            response.usage,
            settings=self._settings,
            base_url=self._settings.base_url,
            provider=self._provider,
        )
        return replace(response, usage=replace(response.usage, cost_usd=cost))

    async def close(self) -> None:
        """Close the model behind."""
        await self.model.close()
