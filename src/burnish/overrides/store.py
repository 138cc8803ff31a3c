"""Overrides store protocol: what every backend promises."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Protocol

from burnish.domain import DEFAULT_TAG, UsageError
from burnish.overrides.descriptor import PromptDescriptor
from burnish.overrides.override import PromptOverride, ResolvedOverride, SectionOverride

ABSENT: Final = "absent"
"""As `expected`: there must be no such tag yet."""


class PromptOverridesStore(Protocol):
    """Keeps overrides of prompts by tag, for many writers at once.

    A store is safe to share among the tasks of an event loop; other loops, processes and machines
    open stores of their own on the same data.

    A write is whole or not there, and is visible to every reader once it returns. It merges into
    what the tag holds at that moment, so writers of different sections lose nothing to each other.

    Writes return the tag's revision, which changes with every change. A write with `expected` is
    refused with ConflictError unless the tag is still at that revision (`ABSENT`: unless there is
    no such tag). An override of another text than the descriptor shows is refused with
    ConflictError on the way in, and left out and named in `stale` on the way out.

    A document that cannot be read is a UsageError that says where it is; other tags stay readable.
    """

    async def resolve(self, descriptor: PromptDescriptor, *, tag: str) -> ResolvedOverride | None:
        """What of the tag fits the prompt; None when there is no such tag."""
        ...

    async def store(
        self,
        descriptor: PromptDescriptor,
        override: SectionOverride,
        *,
        tag: str,
        expected: str | None = None,
    ) -> str:
        """Set one section of a tag."""
        ...

    async def upsert(
        self,
        descriptor: PromptDescriptor,
        override: PromptOverride,
        *,
        expected: str | None = None,
        replace: bool = False,
    ) -> str:
        """Set all that the override names, at once; the rest of the tag stays.

        With `replace` the rest goes, and unless `expected` is given so does what somebody else wrote
        in the meantime.
        """
        ...

    async def delete(self, *, namespace: str, key: str, tag: str) -> None:
        """Take a tag away, readable or not; one that is gone is fine."""
        ...

    async def list_tags(self, *, namespace: str, key: str, prefix: str = "") -> list[str]:
        """The prompt's tags that start with the prefix, sorted."""
        ...

    async def copy_tag(
        self,
        descriptor: PromptDescriptor,
        *,
        source: str,
        target: str,
        overrides: Iterable[SectionOverride] = (),
        expected: str | None = ABSENT,
    ) -> str:
        """Make the target all that the source holds, stale or not, and these overrides on top.

        A target that is there already is replaced only if `expected` is its revision, or None.
        """
        ...

    async def close(self) -> None:
        """Let go of what the store opened itself. Closing twice does no harm."""
        ...


async def resolve_tag(
    store: PromptOverridesStore | None, descriptor: PromptDescriptor, tag: str
) -> ResolvedOverride | None:
    """A tag that somebody named: refused where it is not there, only the default one may be missing."""
    found = None if store is None else await store.resolve(descriptor, tag=tag)
    if found is None and tag != DEFAULT_TAG:
        names = {"namespace": descriptor.namespace, "key": descriptor.key}
        known = [] if store is None else await store.list_tags(**names)
        raise UsageError(
            what=f"the tag {tag!r} cannot be used",
            why=f"the prompt {descriptor.address} has no such tag"
            if store is not None
            else "there is no overrides store to look it up in",
            fix=f"its tags are {', '.join(known)}" if known else "it has none: leave the tag out",
            code="unknown_tag",
        )
    return found
