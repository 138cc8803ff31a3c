"""Descriptors, overrides, and what of a tag fits a prompt."""

import hashlib

import pytest

from burnish.domain import Configuration, ConflictError, Overlay, UsageError
from burnish.overrides import LocalPromptOverridesStore, PromptDescriptor, PromptOverride
from burnish.testing.samples.overrides import PROMPT, TEXTS, describe, override

CONFIGURATION = Configuration.of({"sections": TEXTS, "parameters": {"temperature": 0}})


def test_a_descriptor_has_paths_hashes_and_sizes_in_the_order_of_the_prompt():
    descriptor = PromptDescriptor.of(CONFIGURATION, namespace="support", key="router")

    assert [section.path for section in descriptor.sections] == list(TEXTS)
    for section in descriptor.sections:
        raw = TEXTS[section.path].encode()
        assert section.content_hash == hashlib.sha256(raw).hexdigest()
        assert section.tokens >= 1
    assert descriptor.tokens == sum(section.tokens for section in descriptor.sections)
    assert descriptor.section("system").tokens == 4


def test_a_descriptor_travels_as_json():
    assert PromptDescriptor.from_json(PROMPT.to_json()) == PROMPT


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"namespace": "n", "key": "k"},
        {"namespace": "n", "key": "k", "sections": 1},
        {"namespace": "n", "key": "k", "sections": [{"path": "x"}]},
        {"namespace": "n", "key": "k", "sections": ["x"]},
        {
            "namespace": "n",
            "key": "k",
            "sections": [{"path": 1, "content_hash": "x", "tokens": 1}],
        },
        {"namespace": "../n", "key": "k", "sections": []},
        {"namespace": "n", "key": None, "sections": []},
    ],
)
def test_a_descriptor_from_elsewhere_is_checked(value):
    with pytest.raises(UsageError):
        PromptDescriptor.from_json(value)


def test_an_unknown_section_is_hinted_at():
    with pytest.raises(UsageError, match="did you mean 'system'"):
        PROMPT.section("sytem")
    with pytest.raises(UsageError, match="it has system, rules.tone, user"):
        PROMPT.section("x")


async def test_a_resolved_tag_is_applied_to_the_configuration_it_was_resolved_for(tmp_path):
    store = LocalPromptOverridesStore(tmp_path)
    overlay = Overlay(sections={"system": "Other."}, parameters={"temperature": 1}, examples=({},))
    await store.upsert(PROMPT, PromptOverride.of_overlay(PROMPT, "t", overlay))
    found = await store.resolve(PROMPT, tag="t")

    applied = found.apply(CONFIGURATION)

    assert applied == overlay.apply(CONFIGURATION)
    assert found.override.overlay == overlay
    changed = CONFIGURATION.with_sections({"system": "Changed."})
    with pytest.raises(ConflictError, match="resolve the tag again"):
        found.apply(changed)
    again = await store.resolve(
        PromptDescriptor.of(changed, namespace="support", key="router"), tag="t"
    )
    assert again.apply(changed).sections["system"] == "Changed."
    assert [str(one) for one in again.stale] == [
        "the text of the section 'system' has changed since its override was made"
    ]


async def test_a_section_that_is_gone_is_named(tmp_path):
    store = LocalPromptOverridesStore(tmp_path)
    await store.store(PROMPT, override("user", "x"), tag="t")

    found = await store.resolve(describe({"system": "x"}), tag="t")

    assert str(found.stale[0]) == "the prompt has no section 'user' any more"
