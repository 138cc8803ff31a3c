"""Masks in an overrides store."""

import pytest

from burnish.domain import Configuration, ConflictError, Overlay
from burnish.overrides import LocalPromptOverridesStore, MaskTags, PromptDescriptor, PromptOverride
from burnish.testing.samples.overrides import OTHER_TEXT, PROMPT, TEXTS, bodies, override

PLAIN = Configuration.of({"sections": TEXTS, "parameters": {"temperature": 0}})


@pytest.fixture
def store(tmp_path):
    return LocalPromptOverridesStore(tmp_path)


async def test_a_mask_holds_the_tag_it_builds_on_and_its_own_change(store):
    await store.upsert(
        PROMPT,
        PromptOverride.of(PROMPT, "stable", [override("system", "1"), override("user", "2")]),
    )
    stable = await store.resolve(PROMPT, tag="stable")
    baseline = stable.apply(PLAIN)
    candidate = Configuration.of(
        {"sections": {**baseline.sections, "user": "3"}, "parameters": {"temperature": 1}}
    )
    masks = MaskTags(store, PROMPT, built_on=stable)

    await masks.put("burnish.masks", "router", "opt-1-1", Overlay.between(baseline, candidate))

    # Who knows only the prompt gets the candidate, and so does who knows the baseline.
    resolved = await store.resolve(PROMPT, tag="opt-1-1")
    assert resolved.apply(PLAIN) == candidate
    overlay = await masks.get("burnish.masks", "router", "opt-1-1")
    assert overlay.apply(baseline) == candidate
    assert await bodies(store, "stable") == {"system": "1", "user": "2"}


async def test_masks_are_replaced_whole_listed_and_taken_away(store):
    masks = MaskTags(store, PROMPT)
    names = ("burnish.masks", "Any Agent!")
    await masks.put(*names, "opt-1-1", Overlay(sections={"system": "x"}, parameters={"a": 1}))
    await masks.put(*names, "opt-1-1", Overlay(sections={"user": "y"}))
    await masks.put(*names, "opt-10-1", Overlay(sections={}))

    assert await masks.get(*names, "opt-1-1") == Overlay(sections={"user": "y"})
    assert await masks.list_tags(*names, prefix="opt-1-") == ["opt-1-1"]
    for _ in range(2):
        await masks.delete(*names, "opt-1-1")
    assert await masks.get(*names, "opt-1-1") is None
    assert await masks.list_tags(*names) == ["opt-10-1"]


async def test_a_mask_for_another_prompt_is_refused(store):
    await MaskTags(store, PROMPT).put("n", "k", "m", Overlay(sections={"system": "x"}))

    with pytest.raises(ConflictError, match="another prompt"):
        await MaskTags(store, OTHER_TEXT).get("n", "k", "m")


async def test_a_tag_may_be_built_on_in_another_text_of_the_prompt(store):
    await store.upsert(
        PROMPT,
        PromptOverride.of(PROMPT, "stable", [override("system", "1"), override("user", "2")]),
    )
    changed = Configuration.of({"sections": {**TEXTS, "system": "Send the ticket on."}})
    prompt = PromptDescriptor.of(changed, namespace="support", key="router")
    stable = await store.resolve(prompt, tag="stable")

    await MaskTags(store, prompt, built_on=stable).put("n", "k", "m", Overlay(sections={}))

    assert await bodies(store, "m", prompt) == {"user": "2"}
