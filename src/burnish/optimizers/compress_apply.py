"""Modifications put under a tag of an overrides store, where loops render the prompt from."""

from __future__ import annotations

from collections.abc import Iterable

from burnish.domain import DEFAULT_TAG
from burnish.optimizers.compress_report import Modification
from burnish.overrides import (
    PromptDescriptor,
    PromptOverride,
    PromptOverridesStore,
    SectionOverride,
)


async def apply_modifications(
    store: PromptOverridesStore,
    descriptor: PromptDescriptor,
    modifications: Iterable[Modification],
    *,
    tag: str = DEFAULT_TAG,
    built_on: str | None = None,
    expected: str | None = None,
) -> str:
    """Set the modified sections of a tag, all at once, and return its new revision.

    What else the tag holds stays. `built_on` names the baseline tag where that is another one: the
    tag becomes all that the baseline holds, with the modifications on top. Modifications of a text
    that has changed since are refused, and so is a tag that is not at `expected` any more.
    """
    sections = [
        SectionOverride(
            path=one.section_path, expected_hash=one.original_hash, body=one.proposed_body
        )
        for one in modifications
    ]
    if built_on is not None and built_on != tag:
        return await store.copy_tag(
            descriptor, source=built_on, target=tag, overrides=sections, expected=expected
        )
    override = PromptOverride.of(descriptor, tag, sections)
    return await store.upsert(descriptor, override, expected=expected)
