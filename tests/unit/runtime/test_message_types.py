"""Bodies of messages: declared types as JSON, and nothing else."""

import json
import math
import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.domain import Configuration, UsageError
from burnish.runtime.mailboxes.message_types import (
    MESSAGE_TYPES,
    JsonMessage,
    MessageTypes,
    Packed,
    UndecodableError,
    message_type,
)


@dataclass(frozen=True, slots=True)
class Inner:
    name: str


@dataclass(frozen=True, slots=True)
class Work:
    number: int
    ratio: float = 0.5
    inner: Inner | None = None
    names: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Strict:
    number: int

    def __post_init__(self):
        if self.number < 0:
            raise KeyError("negative")


@dataclass(frozen=True, slots=True)
class Carrier:
    configuration: Configuration


@pytest.fixture
def types():
    made = MessageTypes(max_bytes=1_000)
    made.declare(Work, "work")
    made.declare(Strict, "strict")
    return made


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)  # fmt: skip


@given(json_values)
def test_plain_json_travels_in_a_type_of_its_own(data):
    types = MessageTypes()

    assert types.decode(types.encode(JsonMessage(data))) == JsonMessage(data)


@pytest.mark.parametrize("data", [math.nan, {1: 2}, object()])
def test_what_json_cannot_say_is_no_plain_message(data):
    with pytest.raises(UsageError):
        MessageTypes().encode(JsonMessage(data))
    with pytest.raises(UndecodableError):
        MessageTypes().decode(Packed("burnish.json", 1, b'{"a": NaN}'))


@given(
    st.builds(
        Work,
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.none() | st.builds(Inner, st.text()),
        st.tuples(st.text()),
        st.dictionaries(st.text(), json_values),
    )
)
def test_what_goes_in_comes_out(body):
    types = MessageTypes()
    types.declare(Work, "work", version=3)

    packed = types.encode(body)

    assert (packed.type, packed.version) == ("work", 3)
    json.loads(packed.payload)
    assert types.decode(packed) == body


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (Work("1"), "the field number holds a value of another type"),
        (Work(1, names=["a"]), "the field names holds"),
        (Work(1, inner={"name": "a"}), "the field inner holds"),
        (Work(1, math.nan), "infinite or not a number"),
        (Work(1, extra={"deep": [math.inf]}), "infinite or not a number"),
        (Work(1, extra={"key": object()}), "JSON cannot say"),
        (Work(1, names=("\ud800",)), "not valid Unicode"),
    ],
)
def test_what_is_no_json_of_its_type_is_refused(types, body, why):
    with pytest.raises(UsageError, match=why) as caught:
        types.encode(body)

    assert caught.value.code == "unencodable_message"


def test_an_error_shows_no_value(types):
    with pytest.raises(UsageError) as caught:
        types.encode(Work("sk-canary"))

    assert "canary" not in str(caught.value)


def test_what_is_too_large_is_refused_on_both_sides(types):
    body = Work(1, names=("x" * 2_000,))
    large = MessageTypes()
    large.declare(Work, "work")

    with pytest.raises(UsageError, match="1,000 are allowed"):
        types.encode(body)
    with pytest.raises(UndecodableError, match="1,000 are allowed"):
        types.decode(large.encode(body))


@pytest.mark.parametrize(
    ("packed", "why"),
    [
        (Packed("other", 1, b"{}"), "type 'other' is not declared"),
        (Packed("work", 2, b"{}"), "known in version 1, not 2"),
        (Packed("work", 1, b"{}"), "number: Field required"),
        (Packed("work", 1, b'{"number": "1"}'), "number: Input should be a valid integer"),
        (Packed("work", 1, b'{"number": 1, "later": 1}'), "later: Unexpected keyword"),
        (Packed("work", 1, b'{"number": 1, "inner": {"name": "a", "b": 1}}'), "inner.b: Unex"),
        (Packed("work", 1, b"[" * 900), "recursion limit"),
        (Packed("work", 1, b"\xff"), "Invalid JSON"),
        (Packed("work", 1, pickle.dumps(Inner("a"))), "Invalid JSON"),
        (Packed("strict", 1, b'{"number": -1}'), "KeyError while it was read"),
    ],
)
def test_what_cannot_be_decoded_says_why(types, packed, why):
    with pytest.raises(UndecodableError, match=why):
        types.decode(packed)


def test_an_undeclared_type_is_refused(types):
    @dataclass(frozen=True)
    class Heir(Work):
        pass

    for body in (Inner("a"), Heir(1), {"a": 1}, None):
        with pytest.raises(UsageError, match="not declared") as caught:
            types.encode(body)
        assert caught.value.code == "undeclared_message_type"


def test_a_new_version_is_written_and_the_old_one_still_read(types):
    old = types.encode(Work(1))

    types.declare(Work, "work", version=2)

    assert types.encode(Work(1)).version == 2
    assert types.decode(old) == Work(1)


def test_types_with_a_json_form_of_their_own_use_it(types):
    types.declare(
        Carrier,
        "carrier",
        dump=lambda body: body.configuration.to_json(),
        load=lambda value: Carrier(Configuration.of(value)),
    )
    body = Carrier(Configuration.of({"sections": {"system": "Route {{ticket}}."}}))

    assert types.decode(types.encode(body)) == body
    with pytest.raises(UndecodableError):
        types.decode(Packed("carrier", 1, b'{"sections": 3}'))


def test_a_type_that_pydantic_cannot_read_says_what_to_do(types):
    types.declare(Carrier, "carrier")

    with pytest.raises(UsageError, match="dump= and load="):
        types.encode(Carrier(Configuration.of({"sections": {"system": "a"}})))


@pytest.mark.parametrize(
    "declaration",
    [
        {"name": "Work"},
        {"name": "a b"},
        {"name": "a\n"},
        {"name": "new", "version": 0},
        {"name": "new", "dump": str},
        {"name": "strict"},
    ],
)
def test_declarations_that_cannot_be_are_refused(types, declaration):
    with pytest.raises(UsageError, match="cannot be declared"):
        types.declare(Work, **declaration)


def test_the_decorator_declares_for_all_mailboxes():
    @message_type("unit-test.decorated", version=2)
    @dataclass(frozen=True)
    class Decorated:
        number: int

    assert MESSAGE_TYPES.decode(MESSAGE_TYPES.encode(Decorated(1))) == Decorated(1)
