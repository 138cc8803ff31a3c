from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.domain import UsageError
from burnish.models.local.grammar import (
    label_tokens,
    labels_grammar,
    shared_beginnings,
    unused_character,
)

_ESCAPE = re.compile(r'\\(["\\nrt]|u[0-9A-F]{4}|U[0-9A-F]{8})')
_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
_PLAIN = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}


def read_literals(grammar: str) -> list[str]:
    """Reads a grammar back the way llama.cpp does."""

    def character(found: re.Match[str]) -> str:
        escape = found[1]
        return _PLAIN[escape] if escape in _PLAIN else chr(int(escape[1:], 16))

    rule = grammar.removeprefix("root ::= ")
    assert re.fullmatch(rf"{_LITERAL.pattern}( \| {_LITERAL.pattern})*", rule)
    return [_ESCAPE.sub(character, literal) for literal in _LITERAL.findall(rule)]


def test_a_choice_of_labels():
    assert labels_grammar(["positive", "negative"]) == 'root ::= "positive" | "negative"'


def test_quotes_backslashes_and_newlines_are_escaped():
    assert labels_grammar(['a"b\\c\nd']) == 'root ::= "a\\"b\\\\c\\nd"'


def test_letters_of_any_script_stay_and_invisible_ones_become_codes():
    grammar = labels_grammar(["café 😀", "a\u200bb\x07\U000e0001"])

    assert grammar == 'root ::= "café 😀" | "a\\u200Bb\\u0007\\U000E0001"'


def test_the_same_label_twice_is_one_label():
    assert labels_grammar(["a", "b", "a"]) == 'root ::= "a" | "b"'


labels = st.text(
    st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1, max_size=20
)


@given(st.lists(labels, min_size=1, max_size=5, unique=True))
def test_every_label_reads_back_as_it_was_written(given_labels):
    assert read_literals(labels_grammar(given_labels)) == given_labels


@pytest.mark.parametrize("bad", [[], ["a", ""], ["a\x00"], ["a\ud800"]])
def test_labels_that_no_grammar_can_say_are_refused(bad):
    with pytest.raises(UsageError) as caught:
        labels_grammar(bad)

    assert caught.value.code == "bad_labels"


def test_the_token_limit_counts_bytes_and_the_end_mark():
    assert label_tokens(["ab", "é😀"]) == 7


def test_beginnings_that_labels_share_have_a_grammar_of_the_rest():
    assert shared_beginnings(("card", "cards", "no", "no")) == {
        "c": 'root ::= "ard" | "ards"',
        "ca": 'root ::= "rd" | "rds"',
        "car": 'root ::= "d" | "ds"',
        "card": 'root ::= "" | "s"',
    }
    assert unused_character(("~a", "b")) == "}"
