"""Prices of model calls, from the tables of genai-prices; nothing is fetched."""

from __future__ import annotations

from burnish.domain import Usage
from burnish.models.settings import ModelSettings

_MILLION = 1_000_000


def price_call(
    model: str,
    usage: Usage,
    *,
    settings: ModelSettings,
    base_url: str | None = None,
    image_tokens: int = 0,
) -> float | None:
    """US dollars, or None where nobody knows the price.

    Prices in the settings win. A `base_url` of None is OpenAI itself; any other address is
    looked up among the vendors that genai-prices knows. `image_tokens` are those of the input
    that stand for pictures; some vendors price them otherwise.
    """
    if settings.input_price is not None and settings.output_price is not None:
        spent = usage.input_tokens * settings.input_price
        return (spent + usage.output_tokens * settings.output_price) / _MILLION
    return _known_price(model, usage, base_url, image_tokens)


def _known_price(model: str, usage: Usage, base_url: str | None, image_tokens: int) -> float | None:
    import genai_prices  # noqa: PLC0415

    # Named only where there are any: models that take no pictures have no price for them.
    pictures = {"input_image_tokens": image_tokens} if image_tokens else {}
    tokens = genai_prices.Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=min(usage.cached_tokens, usage.input_tokens),
        **pictures,
    )
    try:
        if base_url is None:
            price = genai_prices.calc_price(tokens, model, provider_id="openai")
        else:
            price = genai_prices.calc_price(tokens, model, provider_api_url=base_url)
    except (LookupError, ValueError):
        return None
    return float(price.total_price)
