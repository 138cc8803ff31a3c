"""The overrides store itself, on documents of any backend."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace as changed
from typing import Self
from uuid import uuid4

from burnish.domain import UsageError
from burnish.overrides.descriptor import PromptDescriptor
from burnish.overrides.document_format import TagDocument, decode, encode
from burnish.overrides.documents import TagDocuments
from burnish.overrides.names import PromptAddress, TagAddress
from burnish.overrides.override import PromptOverride, ResolvedOverride, SectionOverride, fit
from burnish.overrides.refusals import check_expected, check_fits, no_such_tag
from burnish.overrides.store import ABSENT


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
