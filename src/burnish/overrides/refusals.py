"""Why a write is refused, and what to do then."""

from __future__ import annotations

from burnish.domain import ConflictError, UsageError
from burnish.overrides.descriptor import PromptDescriptor
from burnish.overrides.document_format import TagDocument
from burnish.overrides.names import TagAddress
from burnish.overrides.override import PromptOverride, SectionOverride
from burnish.overrides.store import ABSENT

_READ_AGAIN = "resolve the tag again, redo the change on what it holds now, and write that"


def check_fits(descriptor: PromptDescriptor, override: PromptOverride) -> None:
    """Refuse an override of another prompt, or of another text than the prompt has."""
    if (override.namespace, override.key) != (descriptor.namespace, descriptor.key):
        raise UsageError(
            what=f"the override of {override.address} cannot be written",
            why=f"the descriptor is of another prompt, {descriptor.address}",
            fix="give the descriptor of the same prompt",
            code="another_prompt",
        )
    for path, one in override.sections.items():
        _check_section(descriptor, path, one)


def _check_section(descriptor: PromptDescriptor, path: str, override: SectionOverride) -> None:
    if path != override.path or not isinstance(override.body, str):
        raise UsageError(
            what=f"the override of the section {path!r} cannot be written",
            why=f"it names the section {override.path!r}"
            if path != override.path
            else f"its body is a {type(override.body).__name__}, not text",
            fix="build it with PromptOverride.of",
            code="invalid_override",
        )
    found = descriptor.section(path).content_hash
    if found != override.expected_hash:
        raise ConflictError(
            what=f"the override of the section {path!r} of {descriptor.address} is stale",
            why="the section's text has changed since the override was made "
            f"(it was made for {override.expected_hash[:12]}…, the text is {found[:12]}…)",
            fix="make the override anew for the present text, with the descriptor's hash",
            code="stale_override",
        )


def check_expected(address: TagAddress, present: TagDocument | None, expected: str | None) -> None:
    """Refuse a write that does not build on what is there."""
    if expected is None or expected == (ABSENT if present is None else present.revision):
        return
    if present is None:
        why, fix, code = "somebody has deleted it since it was read", _READ_AGAIN, "tag_deleted"
    elif expected == ABSENT:
        why, code = "there is such a tag already", "tag_exists"
        fix = "take another name, delete the tag first, or give its revision as `expected`"
    else:
        why, fix, code = "somebody has changed it since it was read", _READ_AGAIN, "tag_changed"
    raise ConflictError(what=f"the tag {address} was not written", why=why, fix=fix, code=code)


def no_such_tag(address: TagAddress, known: list[str]) -> UsageError:
    """A tag to copy is not there."""
    return UsageError(
        what=f"the tag {address} cannot be copied",
        why="there is no such tag; the prompt has " + (", ".join(known[:10]) or "none"),
        fix="check the name, or write the overrides with upsert",
        code="not_found",
    )
