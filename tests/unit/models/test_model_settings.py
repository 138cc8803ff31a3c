import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.domain import UsageError
from burnish.models.settings import ModelSettings


def test_a_table_becomes_settings_and_the_rest_keeps_its_default():
    settings = ModelSettings.of({"base_url": "http://127.0.0.1:8080/v1", "max_concurrency": 4})

    assert settings.base_url == "http://127.0.0.1:8080/v1"
    assert settings.max_concurrency == 4
    assert settings.timeout_seconds == 60
    assert settings.cache is True


def test_a_wrong_key_names_the_nearest_right_one():
    with pytest.raises(UsageError) as caught:
        ModelSettings.of({"max_concurency": 4})

    assert "'max_concurrency'" in caught.value.fix
    assert caught.value.code == "unknown_field"


def test_a_key_like_no_other_gets_the_list_of_keys():
    with pytest.raises(UsageError, match="base_url, api_key_env"):
        ModelSettings.of({"zzzzzz": 4})


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("max_concurrency", 0, "from 1 up"),
        ("max_concurrency", 2.5, "from 1 up"),
        ("max_concurrency", True, "not a number"),
        ("max_attempts", "5", "not a number"),
        ("timeout_seconds", 0, "above 0"),
        ("timeout_seconds", None, "not a number"),
        ("deadline_seconds", float("inf"), "finite"),
        ("requests_per_minute", -1, "above 0"),
        ("context_tokens", 0, "from 1 up"),
        ("queue_seconds", 0, "above 0"),
        ("retry_budget", -0.1, "below 0"),
        ("cache", 1, "neither true nor false"),
        ("api", "telepathy", "one of chat"),
        ("api_key_env", 5, "not text"),
        ("base_url", "127.0.0.1:8080", "http://"),
        ("base_url", "ftp://host/v1", "http://"),
        ("base_url", "http://host:99999/v1", "not an address"),
        ("base_url", "http://user:secret@host/v1", "user or password"),
        ("base_url", "http://host/v1?key=secret", "query"),
        ("input_price", 1.0, "together"),
    ],
)
def test_a_wrong_value_is_refused_with_its_reason(name, value, why):
    with pytest.raises(UsageError, match=why) as caught:
        ModelSettings.of({name: value})

    assert "price" in name or name in caught.value.what
    assert "secret" not in str(caught.value)


@given(st.dictionaries(st.sampled_from(ModelSettings.__slots__), st.none() | st.integers(1, 9)))
def test_any_table_gives_settings_or_a_usage_error(table):
    try:
        settings = ModelSettings.of(table)
    except UsageError as error:
        assert error.exit_code == 2
    else:
        assert all(getattr(settings, name) == value for name, value in table.items())
