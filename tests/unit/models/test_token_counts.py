import pytest

from burnish.domain import Message
from burnish.models.tokens import count_message_tokens, count_tokens


def test_tokens_are_counted_as_openai_counts_them():
    assert count_tokens("hello world", "gpt-4o-mini") == 2
    assert count_tokens("tiktoken is great!", "gpt-4") == 6


@pytest.mark.parametrize(
    ("model", "counted"),
    [
        *((older, 12) for older in ("gpt-4", "gpt-4-turbo", "gpt-3.5-turbo", "ft:gpt-4-0613:us")),
        *((newer, 7) for newer in ("gpt-4o", "gpt-4.1-mini", "gpt-5", "o3", "ft:gpt-4o:us", None)),
    ],
)
def test_models_before_gpt_4o_are_counted_by_the_table_of_their_time(model, counted):
    assert count_tokens("Благодарю вас сердечно", model) == counted


def test_an_unknown_model_is_counted_with_the_default_encoding():
    assert count_tokens("hello world", "no-such-model") == count_tokens("hello world") == 2


def test_the_name_of_a_special_token_is_text_like_any_other():
    assert count_tokens("<|endoftext|>", "gpt-4o") == 7


def test_no_text_has_no_tokens():
    assert count_tokens("") == 0


def test_a_text_of_megabytes_can_be_counted():
    assert count_tokens("hello world " * 200_000) > 200_000


def test_half_a_surrogate_pair_can_be_counted():
    assert count_tokens("a\ud800b") > 0


def test_messages_cost_more_than_their_text():
    messages = (Message("system", "hello world"), Message("user", "hello world"))

    assert count_message_tokens(messages) == 2 + 2 + 2 * 4 + 3
