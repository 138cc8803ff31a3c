"""Prices of model calls, from the tables of genai-prices; nothing is fetched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from burnish.domain import Model, ModelRequest, ModelResponse, Usage
from burnish.models.settings import ModelSettings

_MILLION = 1_000_000
# What a request costs in a batch, at OpenAI, Anthropic and Google alike.
_BATCH_SHARE = 0.5


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
        spent = usage.input_tokens * settings.input_price
        return share * (spent + usage.output_tokens * settings.output_price) / _MILLION
    # Named only where there are any: models without pictures have no price for them.
    counts = {
        "input_image_tokens": image_tokens,
        "output_image_tokens": output_image_tokens,
        "cache_write_tokens": min(
            cache_write_tokens, max(0, usage.input_tokens - usage.cached_tokens)
        ),
    }
    parts = {name: tokens for name, tokens in counts.items() if tokens}
    price = _known_price(model, usage, base_url, parts, provider)
    return None if price is None else share * price


def _known_price(
    model: str, usage: Usage, base_url: str | None, parts: Mapping[str, int], provider: str
) -> float | None:
    import genai_prices  # noqa: PLC0415

    tokens = genai_prices.Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=min(usage.cached_tokens, usage.input_tokens),
        **parts,
    )
    try:
        if base_url is None:
            price = genai_prices.calc_price(tokens, model, provider_id=provider)
        else:
            price = genai_prices.calc_price(tokens, model, provider_api_url=base_url)
    except (LookupError, ValueError):
        return None
    return float(price.total_price)


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
