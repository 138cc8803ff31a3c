"""Modifications put under a tag of an overrides store, where loops render the prompt from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from burnish.domain import DEFAULT_TAG
from burnish.optimizers.compress.examples import EXAMPLES, read_examples
from burnish.optimizers.compress.report import Modification
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
    that has changed since are refused, and so is a tag that is not at `expected` any more. Examples
    are not part of a descriptor, so whether they have changed since is not checked here.
    """
    override = override_of(descriptor, tag, modifications)
    if built_on is None or built_on == tag:
        return await store.upsert(descriptor, override, expected=expected)
    # Sections go with the copy. Where examples change too, the tag is for a moment the baseline
    # itself, which is safe to run under; half of a compression is not.
    whole = override.examples is None
    revision = await store.copy_tag(
        descriptor,
        source=built_on,
        target=tag,
        overrides=override.sections.values() if whole else (),
        expected=expected,
    )
    return revision if whole else await store.upsert(descriptor, override, expected=revision)


def override_of(
    descriptor: PromptDescriptor, tag: str, modifications: Iterable[Modification]
) -> PromptOverride:
    """What a tag holds that is exactly these modifications."""
    sections: list[SectionOverride] = []
    examples = None
    for one in modifications:
        if one.section_path == EXAMPLES:
            examples = read_examples(one.proposed_body)
            continue
        override = SectionOverride(
            path=one.section_path, expected_hash=one.original_hash, body=one.proposed_body
        )
        sections.append(override)
    return replace(PromptOverride.of(descriptor, tag, sections), examples=examples)
