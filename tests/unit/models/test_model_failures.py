import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.domain import UsageError
from burnish.models.failures import (
    Endpoint,
    ErrorAnswer,
    TransientError,
    clean_message,
    error_of_status,
    redact,
)

CANARY = "canary-7f3a9c51"
ENDPOINT = Endpoint("openai/small", "http://127.0.0.1:1/v1", "MY_KEY")


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_what_may_pass_is_transient_and_keeps_the_servers_wait(status):
    error = error_of_status(ErrorAnswer(status=status, message="busy"), ENDPOINT, retry_after=3.0)

    assert isinstance(error, TransientError)
    assert error.status == status
    assert error.retry_after == 3.0
    assert "busy" in error.reason


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "request_refused"),
        (401, "bad_key"),
        (403, "bad_key"),
        (404, "unknown_model"),
        (413, "request_refused"),
        (422, "request_refused"),
        (302, "request_refused"),
    ],
)
def test_what_cannot_pass_is_a_usage_error(status, code):
    error = error_of_status(ErrorAnswer(status=status, message="because"), ENDPOINT)

    assert isinstance(error, UsageError)
    assert error.code == code
    assert "http://127.0.0.1:1/v1" in error.why


def test_a_refused_key_names_its_variable_and_quotes_nothing():
    error = error_of_status(ErrorAnswer(status=401, message="wrong key: can***51"), ENDPOINT)

    assert "MY_KEY" in error.fix
    assert "can***51" not in str(error)


def test_a_refusal_without_a_key_says_where_to_name_one():
    error = error_of_status(ErrorAnswer(status=401), Endpoint("openai/small", "http://h/v1", ""))

    assert "api_key_env" in error.fix


def test_a_redirect_is_told_and_not_followed():
    assert "redirects are not followed" in error_of_status(ErrorAnswer(status=307), ENDPOINT).why


@given(before=st.text(), after=st.text())
def test_a_secret_never_survives_redaction(before, after):
    assert CANARY not in redact(before + CANARY + after, CANARY)


@pytest.mark.parametrize("text", ["Bearer abc.def", "bearer xyz", "sk-proj-abcdef123456"])
def test_what_looks_like_a_key_is_hidden_even_when_unknown(text):
    assert redact(f"sent {text} along") == "sent [hidden] along"


def test_a_short_secret_does_not_eat_the_text():
    assert redact("banana", "a") == "banana"


def test_a_foreign_message_becomes_one_short_printable_line():
    cleaned = clean_message("red\x1b[31m\nline\x00 two " + "x" * 1000)

    assert cleaned.startswith("red[31m line two xxx")
    assert len(cleaned) == 301
    assert cleaned.isprintable()
