import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.domain import Message
from burnish.models import tokens
from burnish.models.tokens import count_message_tokens, count_tokens, estimate_tokens


@pytest.fixture
def without_the_tokenizer(monkeypatch):
    monkeypatch.setitem(sys.modules, "bpe_openai", None)
    monkeypatch.delitem(sys.modules, "bpe_openai._bindings", raising=False)
    tokens._tokenizer.cache_clear()
    yield
    tokens._tokenizer.cache_clear()


def test_tokens_are_counted_as_openai_counts_them():
    assert count_tokens("hello world", "gpt-4o-mini") == 2
    assert count_tokens("tiktoken is great!", "gpt-4") == 6


def test_an_unknown_model_is_counted_with_the_default_encoding():
    assert count_tokens("hello world", "no-such-model") == count_tokens("hello world") == 2


def test_no_text_has_no_tokens():
    assert count_tokens("") == 0


def test_a_text_of_megabytes_can_be_counted():
    assert count_tokens("hello world " * 200_000) > 200_000


def test_half_a_surrogate_pair_can_be_counted():
    assert count_tokens("a\ud800b") > 0


def test_messages_cost_more_than_their_text():
    messages = (Message("system", "hello world"), Message("user", "hello world"))

    assert count_message_tokens(messages) == 2 + 2 + 2 * 4 + 3


def test_without_the_package_a_rough_count_stands_in(without_the_tokenizer):
    assert count_tokens("hello world") == 3


def test_counting_does_not_load_the_tables_of_the_whole_package():
    code = (
        "import sys; from burnish.models.tokens import count_tokens; count_tokens('a');"
        "print('bpe_openai' in sys.modules); import bpe_openai; print(count_tokens('a b', 'gpt-4'))"
    )

    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert said.stdout.split() == ["False", "2"]


@given(st.text())
def test_the_rough_count_is_never_zero_for_a_text(text):
    assert (estimate_tokens(text) > 0) == bool(text)
