"""Names of namespaces, prompts and tags."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.domain import UsageError
from burnish.overrides import check_name, safe_name
from burnish.overrides.names import PromptAddress
from burnish.testing.samples.overrides import BAD_NAMES, GOOD_NAMES


@pytest.mark.parametrize("name", GOOD_NAMES)
def test_plain_names_are_taken_as_they_are(name):
    assert check_name("tag", name) == name
    assert safe_name(name) == name
    assert str(PromptAddress(name, name).tag(name)) == f"{name}/{name}/{name}"


@pytest.mark.parametrize("name", BAD_NAMES, ids=ascii)
def test_other_names_are_refused_with_their_rule(name):
    with pytest.raises(UsageError, match="1 to 64") as caught:
        check_name("tag", name)
    assert caught.value.code == "invalid_name"
    with pytest.raises(UsageError):
        PromptAddress("n", name)
    with pytest.raises(UsageError):
        PromptAddress(name, "k")
    with pytest.raises(UsageError):
        PromptAddress("n", "k").tag(name)


def test_a_long_name_is_shown_shortened():
    with pytest.raises(UsageError) as caught:
        check_name("tag", "A" * 10_000)
    assert len(str(caught.value)) < 400


def test_names_of_burnish_itself_are_reserved():
    for namespace in ("burnish.masks", "burnish.x"):
        with pytest.raises(UsageError, match="kept for Burnish"):
            PromptAddress(namespace, "k")
    assert PromptAddress("burnish", "k").namespace == "burnish"


@given(st.text())
def test_any_text_has_a_name(text):
    assert check_name("key", safe_name(text)) == safe_name(text)


def test_texts_that_look_alike_get_names_of_their_own():
    texts = ["My Agent", "my agent", "my-agent", "my_agent!", "", "...", "agent " * 20, "é", "è"]

    assert len({safe_name(text) for text in texts}) == len(texts)
    assert safe_name("My Agent").startswith("my-agent-")
