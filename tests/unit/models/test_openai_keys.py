import pytest

from burnish.domain import UsageError
from burnish.models import ModelSettings, OpenAIModel

CANARY = "sk-canary-7f3a9c51d2"
LOCAL = "http://127.0.0.1:1/v1"


def test_openai_without_a_key_says_which_variable_to_set():
    with pytest.raises(UsageError) as caught:
        OpenAIModel("gpt-4o-mini")

    assert caught.value.code == "missing_key"
    assert "OPENAI_API_KEY" in caught.value.fix


def test_a_named_variable_that_is_not_set_is_told_even_for_a_custom_endpoint():
    settings = ModelSettings(base_url=LOCAL, api_key_env="MY_KEY")

    with pytest.raises(UsageError, match="MY_KEY is not set"):
        OpenAIModel("small", settings)


def test_a_custom_endpoint_needs_no_key():
    assert OpenAIModel("small", ModelSettings(base_url=LOCAL)).name == "openai/small"


@pytest.mark.parametrize("key", [CANARY + "\nX-Evil: 1", CANARY + "ü", CANARY + "\x07x"])
def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(monkeypatch, key):
    monkeypatch.setenv("OPENAI_API_KEY", key)

    with pytest.raises(UsageError) as caught:
        OpenAIModel("gpt-4o-mini")

    assert caught.value.code == "bad_key"
    assert CANARY not in str(caught.value)


def test_the_key_shows_in_no_description_of_the_model(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)

    model = OpenAIModel("gpt-4o-mini")

    assert CANARY not in f"{model!r} {model.name} {model.fingerprint} {model.settings!r}"


def test_the_fingerprint_follows_the_model_and_the_endpoint_but_not_the_key(monkeypatch):
    here = ModelSettings(base_url=LOCAL)
    there = ModelSettings(base_url="http://127.0.0.1:2/v1")
    before = OpenAIModel("small", here).fingerprint

    monkeypatch.setenv("OPENAI_API_KEY", CANARY)

    assert OpenAIModel("small", here).fingerprint == before
    assert OpenAIModel("large", here).fingerprint != before
    assert OpenAIModel("small", there).fingerprint != before


def test_a_slash_at_the_end_of_the_address_changes_nothing():
    plain = OpenAIModel("small", ModelSettings(base_url=LOCAL))
    slashed = OpenAIModel("small", ModelSettings(base_url=LOCAL + "/"))

    assert slashed.fingerprint == plain.fingerprint


def test_the_address_in_the_environment_counts_and_is_checked(monkeypatch):
    given = OpenAIModel("small", ModelSettings(base_url=LOCAL)).fingerprint
    monkeypatch.setenv("OPENAI_BASE_URL", LOCAL)

    assert OpenAIModel("small").fingerprint == given

    monkeypatch.setenv("OPENAI_BASE_URL", "http://user:pass@host/v1")
    with pytest.raises(UsageError, match="user or password"):
        OpenAIModel("small")
