import pytest

from burnish.domain import Usage, UsageError
from burnish.models.pricing import price_by_name, price_call
from burnish.models.settings import ModelSettings

USAGE = Usage(calls=1, input_tokens=1_000_000, output_tokens=1_000_000)


def test_a_known_model_is_priced_offline():
    assert price_call("gpt-4o-mini", USAGE, settings=ModelSettings()) == pytest.approx(0.75)


def test_cached_tokens_are_cheaper():
    cached = Usage(calls=1, input_tokens=1_000_000, cached_tokens=1_000_000)

    assert price_call("gpt-4o-mini", cached, settings=ModelSettings()) == pytest.approx(0.075)


def test_prices_in_the_settings_win():
    settings = ModelSettings(input_price=2.0, output_price=0.5)

    assert price_call("gpt-4o-mini", USAGE, settings=settings) == pytest.approx(2.5)


def test_a_free_model_costs_nothing_rather_than_the_unknown():
    settings = ModelSettings(input_price=0, output_price=0)

    assert price_call("no-such-model", USAGE, settings=settings) == 0.0


@pytest.mark.parametrize("base_url", [None, "http://127.0.0.1:8080/v1"])
def test_an_unknown_price_is_none(base_url):
    price = price_call("no-such-model", USAGE, settings=ModelSettings(), base_url=base_url)

    assert price is None


def test_a_known_name_at_an_unknown_endpoint_has_no_known_price():
    price = price_call(
        "gpt-4o-mini", USAGE, settings=ModelSettings(), base_url="http://127.0.0.1:8080/v1"
    )

    assert price is None


def test_another_vendor_is_known_by_its_address():
    price = price_call(
        "llama-3.3-70b-versatile",
        USAGE,
        settings=ModelSettings(),
        base_url="https://api.groq.com/openai/v1",
    )

    assert price is not None
    assert price > 0


def test_more_cached_than_read_tokens_do_not_break_the_price():
    odd = Usage(calls=1, input_tokens=10, cached_tokens=50)

    assert price_call("gpt-4o-mini", odd, settings=ModelSettings()) > 0


def test_tokens_kept_for_later_and_read_again_have_prices_of_their_own():
    usage = Usage(calls=1, input_tokens=1_000_000, cached_tokens=400_000)

    price = price_call(
        "claude-haiku-4-5",
        usage,
        settings=ModelSettings(),
        cache_write_tokens=100_000,
        provider="anthropic",
    )

    assert price == pytest.approx(0.5 * 1.0 + 0.4 * 0.1 + 0.1 * 1.25)


def test_own_prices_hold_for_cached_tokens_unless_they_have_one_of_their_own():
    cached = Usage(calls=1, input_tokens=1_000_000, cached_tokens=500_000)
    plain = ModelSettings(input_price=2.0, output_price=0.5)
    own = ModelSettings(input_price=2.0, output_price=0.5, cached_input_price=0.2)

    assert price_call("mine", cached, settings=plain) == pytest.approx(2.0)
    assert price_call("mine", cached, settings=own) == pytest.approx(1.1)


def test_a_price_of_cached_tokens_needs_the_other_two():
    with pytest.raises(UsageError, match="cached_input_price"):
        ModelSettings(cached_input_price=0.2)


@pytest.mark.parametrize(
    ("name", "base_url", "cost"),
    [
        ("local/smollm2-135m", None, 0.0),
        ("ollama/llama3.2", None, 0.0),
        ("vllm/qwen", "http://localhost:9000/v1", 0.0),
        ("vllm/qwen", "https://gpu.example.org/v1", None),
        ("ollama/gpt-oss:120b-cloud", None, None),
        ("gpt-4o-mini", None, 0.75),
        ("nobody/knows", None, None),
        ("xai/grok-4", None, 18.0),
    ],
)
def test_the_price_by_name_is_none_where_nobody_knows_it(name, base_url, cost, monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    found = price_by_name(name, USAGE, ModelSettings(base_url=base_url))

    assert found == (None if cost is None else pytest.approx(cost))


def test_own_prices_hold_for_servers_of_this_machine_too():
    settings = ModelSettings(input_price=1.0, output_price=1.0)

    assert price_by_name("ollama/llama3.2", USAGE, settings) == pytest.approx(2.0)
