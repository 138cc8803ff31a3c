"""Tag store: the overrides store itself, on the documents of any backend."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace as changed
from typing import Protocol, Self, TypeAlias
from uuid import uuid4

from burnish.domain import ConflictError, UsageError
from burnish.overrides.descriptor import PromptDescriptor
from burnish.overrides.names import PromptAddress, TagAddress
from burnish.overrides.override import (
    PromptOverride,
    ResolvedOverride,
    SectionOverride,
    TagDocument,
    decode,
    encode,
    fit,
)
from burnish.overrides.store import ABSENT

_READ_AGAIN = "resolve the tag again, redo the change on what it holds now, and write that"
Edit: TypeAlias = Callable[[bytes | None], bytes]


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


class TagDocuments(Protocol):
    """Keeps one document a tag, safe for any number of writers.

    Every method ends by a deadline of its own, with UnavailableError.
    """

    def where(self, address: TagAddress) -> str:
        """The place of a document, in words for people, without a password."""
        ...

    async def read(self, address: TagAddress) -> bytes | None:
        """A whole document, or None when there is none."""
        ...

    async def change(self, address: TagAddress, edit: Edit) -> None:
        """Replace a document by what `edit` makes of it, with no other write in between.

        `edit` is given None for no document. It may be called more than once, and what it raises
        is raised here, with nothing changed. Nothing is written when it returns what it was given.
        """
        ...

    async def remove(self, address: TagAddress) -> None:
        """Take a document away; one that is gone is fine."""
        ...

    async def tags(self, prompt: PromptAddress) -> list[str]:
        """The tags of a prompt, in any order."""
        ...

    async def close(self) -> None:
        """Let go of what was opened here. Closing twice does no harm."""
        ...


class TagStore:
    """A PromptOverridesStore on documents: what merges, refuses and reports, for all backends."""

    def __init__(self, documents: TagDocuments) -> None:
        self._documents = documents

    async def resolve(self, descriptor: PromptDescriptor, *, tag: str) -> ResolvedOverride | None:
        """What of the tag fits the prompt; None when there is no such tag."""
        found = await self._read(descriptor.address.tag(tag))
        return None if found is None else fit(found.override, descriptor, found.revision)

    async def store(
        self,
        descriptor: PromptDescriptor,
        override: SectionOverride,
        *,
        tag: str,
        expected: str | None = None,
    ) -> str:
        """Set one section of a tag."""
        whole = PromptOverride.of(descriptor, tag, [override])
        return await self.upsert(descriptor, whole, expected=expected)

    async def upsert(
        self,
        descriptor: PromptDescriptor,
        override: PromptOverride,
        *,
        expected: str | None = None,
        replace: bool = False,
    ) -> str:
        """Set all that the override names, at once."""
        check_fits(descriptor, override)

        def make(present: PromptOverride | None) -> PromptOverride:
            return override if present is None or replace else present.merged(override)

        return await self._write(override.address, make, expected)

    async def delete(self, *, namespace: str, key: str, tag: str) -> None:
        """Take a tag away, readable or not; one that is gone is fine."""
        await self._documents.remove(PromptAddress(namespace, key).tag(tag))

    async def list_tags(self, *, namespace: str, key: str, prefix: str = "") -> list[str]:
        """The prompt's tags that start with the prefix, sorted."""
        tags = await self._documents.tags(PromptAddress(namespace, key))
        return sorted(tag for tag in tags if tag.startswith(prefix))

    async def copy_tag(
        self,
        descriptor: PromptDescriptor,
        *,
        source: str,
        target: str,
        overrides: Iterable[SectionOverride] = (),
        expected: str | None = ABSENT,
    ) -> str:
        """Make the target all that the source holds, and these overrides on top."""
        on_top = PromptOverride.of(descriptor, target, overrides)
        check_fits(descriptor, on_top)
        address, target_address = descriptor.address.tag(source), on_top.address
        if address == target_address:
            raise UsageError(
                what=f"the tag {address} cannot be copied",
                why="source and target are the same",
                fix="use upsert to change a tag, or give another target",
                code="same_tag",
            )
        found = await self._read(address)
        if found is None:
            raise no_such_tag(address, sorted(await self._documents.tags(descriptor.address)))
        whole = changed(found.override, tag=target).merged(on_top)
        return await self._write(target_address, lambda _present: whole, expected)

    async def close(self) -> None:
        """Let go of what the store opened itself. Closing twice does no harm."""
        await self._documents.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def _read(self, address: TagAddress) -> TagDocument | None:
        data = await self._documents.read(address)
        return None if data is None else self._decoded(data, address)

    async def _write(
        self,
        address: TagAddress,
        make: Callable[[PromptOverride | None], PromptOverride],
        expected: str | None,
    ) -> str:
        new = revision = uuid4().hex

        def edit(data: bytes | None) -> bytes:
            nonlocal revision
            revision = new
            if data is None:
                check_expected(address, None, expected)
                return encode(TagDocument(override=make(None), revision=new))
            present = self._decoded(data, address)
            if present.revision == new:
                return data  # An attempt of ours got no answer and had come through.
            check_expected(address, present, expected)
            made = TagDocument(override=make(present.override), revision=present.revision)
            if encode(made) == encode(present):
                revision = present.revision
                return data
            return encode(changed(made, revision=new))

        await self._documents.change(address, edit)
        return revision

    def _decoded(self, data: bytes, address: TagAddress) -> TagDocument:
        return decode(data, address, self._documents.where(address))
