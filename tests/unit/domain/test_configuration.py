"""Configurations are checked on the way in, and what hashes alike runs alike."""

import copy
import json
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.domain import Configuration, UsageError, placeholders, render

texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)


@given(texts, texts)
def test_equal_hashes_hold_equal_texts(one, other):
    first = Configuration.of({"sections": {"system": one}})
    second = Configuration.of({"sections": {"system": other}})

    assert (first.hash == second.hash) == (first.sections == second.sections)


@given(texts)
def test_the_json_form_reads_back_as_the_same_configuration(text):
    configuration = Configuration.of(
        {"sections": {"system": text}, "parameters": {"t": 0.5}, "examples": [{"input": text}]}
    )

    again = Configuration.of(configuration.to_json())

    assert again == configuration
    assert again.hash == configuration.hash


def stored_and_checked():
    checked = Configuration.of(
        {"sections": {"system": "{{a}}"}, "parameters": {"t": 1}, "examples": [{"input": "x"}]}
    )
    return Configuration.stored(json.dumps(checked.to_json())), checked


def test_a_stored_configuration_equals_the_one_that_was_checked():
    stored, checked = stored_and_checked()

    assert stored == checked
    assert repr(stored) == repr(checked)


@pytest.mark.parametrize(
    "look",
    [
        lambda one: one.sections,
        lambda one: one.parameters,
        lambda one: one.examples,
        lambda one: one.hash,
        lambda one: one.placeholders,
        lambda one: one.to_json(),
        lambda one: one.with_sections({"system": "b"}),
        lambda one: replace(one, parameters={}),
        copy.deepcopy,
        lambda one: pickle.loads(pickle.dumps(one)),
    ],
)
def test_whatever_is_asked_of_a_stored_configuration_first(look):
    stored, checked = stored_and_checked()

    assert look(stored) == look(checked)


def test_many_threads_may_be_the_first_to_look_into_a_stored_configuration():
    with ThreadPoolExecutor(8) as threads:
        for _ in range(200):
            stored, checked = stored_and_checked()
            meet = threading.Barrier(8)

            def look(one=stored, meet=meet):
                meet.wait()
                return one.examples

            seen = [threads.submit(look) for _ in range(8)]
            assert all(one.result() == checked.examples for one in seen)


def test_a_stored_configuration_has_no_other_attributes():
    stored, _ = stored_and_checked()

    with pytest.raises(AttributeError, match="'Configuration' object has no attribute 'section'"):
        _ = stored.section


def test_numbers_and_order_do_not_change_the_hash():
    one = {"sections": {"a": "x", "b": "y"}, "parameters": {"temperature": 1}}
    other = {"parameters": {"temperature": 1.0}, "sections": {"b": "y\n", "a": "x  "}}

    assert Configuration.of(one).hash == Configuration.of(other).hash


def test_a_changed_section_changes_the_hash_and_nothing_else():
    before = Configuration.of({"sections": {"system": "a", "user": "{{x}}"}})

    after = before.with_sections({"system": "b"})

    assert after.sections == {"system": "b", "user": "{{x}}"}
    assert after.hash != before.hash
    assert before.sections["system"] == "a"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"section": {}}, "did you mean 'sections'"),
        ({"sections": {"a b": "x"}}, "'a b' is not a section path"),
        ({"sections": {"../etc": "x"}}, "is not a section path"),
        ({"sections": {"system": 3}}, "is a int, not text"),
        ({"sections": ["x"]}, "list"),
        ({"parameters": {"t": float("nan")}}, "nan is not a JSON number"),
        ({"examples": [3]}, "example 0 is a int"),
        ({"examples": "text"}, "not a list"),
        ([], "not an object"),
    ],
)
def test_a_wrong_configuration_says_what_is_wrong(value, expected):
    with pytest.raises(UsageError, match=expected):
        Configuration.of(value)


def test_placeholders_are_found_in_order_and_once():
    assert placeholders("{{b}} {{ a }} {{b}} {{a.c}} {b} {{1x}} {{}}") == ("b", "a", "a.c")


def test_rendering_fills_fields_paths_and_non_text():
    fields = {"a": "x", "n": {"m": [1, "é"]}, "none": None, "flag": True}

    assert render("{{a}}|{{n.m}}|{{none}}|{{flag}}", fields) == 'x|[1, "é"]||true'


def test_a_value_that_looks_like_a_placeholder_stays_as_it_is():
    assert render("{{a}} {{b}}", {"a": "{{b}}", "b": "secret"}) == "{{b}} secret"


def test_a_placeholder_without_a_field_names_the_fields_there_are():
    with pytest.raises(UsageError, match="it has body, title") as caught:
        render("{{text}}", {"title": "", "body": ""})

    assert caught.value.code == "placeholder_unknown"
