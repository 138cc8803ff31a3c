"""One hash for one meaning, and another for any other."""

import hashlib
import json
import math
import unicodedata

import pytest
import rfc8785
from hypothesis import example, given
from hypothesis import strategies as st

from burnish.domain import UsageError, canonical_hash, canonical_json, exact_hash
from burnish.domain.json_values import _encodable, normalise_text

texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


def nfc_distinct(value: object) -> bool:
    """Whether no object in the value has two keys that NFC makes equal."""
    if isinstance(value, dict):
        names = {unicodedata.normalize("NFC", key) for key in value}
        return len(names) == len(value) and all(map(nfc_distinct, value.values()))
    if isinstance(value, list):
        return all(map(nfc_distinct, value))
    return True


def reversed_keys(value: object) -> object:
    if isinstance(value, dict):
        return {key: reversed_keys(value[key]) for key in reversed(list(value))}
    if isinstance(value, list):
        return [reversed_keys(inner) for inner in value]
    return value


@given(values.filter(nfc_distinct))
def test_the_order_of_keys_does_not_count(value):
    assert canonical_hash(value) == canonical_hash(reversed_keys(value))


@given(values.filter(nfc_distinct))
def test_a_round_trip_through_json_keeps_the_hash(value):
    assert canonical_hash(json.loads(json.dumps(value))) == canonical_hash(value)
    assert exact_hash(json.loads(json.dumps(value))) == exact_hash(value)


@given(values | st.floats(1e-5, 1e17))
@example([0.0, 1e-4, 9.9e-5, 1e15 + 0.5, {"temperature": 0.7}])
def test_the_fast_way_of_hashing_gives_the_careful_ways_bytes(value):
    assert exact_hash(value) == hashlib.sha256(rfc8785.dumps(_encodable(value, "$"))).hexdigest()


@given(st.integers(-(2**53) + 1, 2**53 - 1))
def test_whole_numbers_are_equal_by_value(number):
    assert canonical_hash(number) == canonical_hash(float(number))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (1e0, 1),
        (100, 1e2),
        (0, -0.0),
        (10**20, 1e20),
        (2**60, float(2**60)),
        ("e\u0301", "\u00e9"),
        ("a\r\nb", "a\nb"),
        ("a\rb", "a\nb"),
        ("a  \t\nb", "a\nb"),
        ("a\n\n", "a"),
        ({"e\u0301": 1}, {"\u00e9": 1}),
        ((1, 2), [1, 2]),
    ],
)
def test_equal_meaning_has_one_hash(one, other):
    assert canonical_hash(one) == canonical_hash(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, "1"),
        (1, True),
        (0, False),
        (0, None),
        ("", None),
        ([], {}),
        (" a", "a"),
        ("a b", "a  b"),
        ("a\nb", "a\n\nb"),
        (2**53, 2**53 + 1),
        (2**53 + 1, f"\x00int:{2**53 + 1}"),
        (1.0, 1.0000000000000002),
        ([1, 2], [2, 1]),
        ({"a": None}, {}),
    ],
)
def test_another_meaning_has_another_hash(one, other):
    assert canonical_hash(one) != canonical_hash(other)


@given(texts)
def test_normalising_twice_changes_nothing(text):
    once = normalise_text(text)

    assert normalise_text(once) == once


def test_exact_hashes_take_text_byte_for_byte():
    assert exact_hash("a ") != exact_hash("a")
    assert exact_hash("a\r\n") != exact_hash("a\n")
    assert exact_hash({"b": 1, "a": 2}) == exact_hash({"a": 2.0, "b": 1})


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({"a": [1, math.nan]}, "$.a[1]"),
        ({"a": {"b": math.inf}}, "$.a.b"),
        ([-math.inf], "$[0]"),
        ({"a": {1, 2}}, "$.a"),
        ({"a": b"bytes"}, "$.a"),
        ({1: "key"}, "$"),
        ({"a": ["\ud800"]}, "$.a[0]"),
    ],
)
def test_what_is_not_json_is_refused_with_its_path(value, place):
    with pytest.raises(UsageError) as caught:
        canonical_json(value)

    assert f"at {place} " in caught.value.what + " "
    assert caught.value.fix


def test_keys_that_unicode_makes_equal_are_refused():
    with pytest.raises(UsageError, match="two keys"):
        canonical_json({"e\u0301": 1, "\u00e9": 2})


def test_the_form_is_rfc_8785():
    assert canonical_json({"b": [1.0, 1e21, 0.1], "a": "\u20ac\n\t"}) == (
        '{"a":"€","b":[1,1e+21,0.1]}'.encode()
    )


def test_a_number_too_long_to_be_written_is_refused():
    assert canonical_hash([10**4000]) != canonical_hash([10**4000 + 1])
    with pytest.raises(UsageError, match="too many digits"):
        canonical_hash([10**5000])
