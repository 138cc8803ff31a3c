"""Mask tags: masks kept as tags of a prompt, where workers on other machines find them."""

from __future__ import annotations

from burnish.domain import ConflictError, Lease, Overlay
from burnish.overrides.descriptor import PromptDescriptor
from burnish.overrides.override import PromptOverride, ResolvedOverride
from burnish.overrides.store import PromptOverridesStore


class MaskTags:
    """An OverlayStore that keeps masks as tags of one prompt in any overrides store.

    A mask holds all that the tag it builds on holds, and its own change on top. It lies under the
    prompt's own namespace and key, whatever others are given, so that whoever knows the prompt can
    resolve it. Leases are not looked at: they guard what the database keeps, and a mask that is
    written late is the same mask.
    """

    def __init__(
        self,
        store: PromptOverridesStore,
        descriptor: PromptDescriptor,
        *,
        built_on: ResolvedOverride | None = None,
    ) -> None:
        self._store = store
        self._descriptor = descriptor
        self._built_on = built_on

    async def put(
        self, namespace: str, key: str, tag: str, overlay: Overlay, *, lease: Lease | None = None
    ) -> None:
        """Replace the mask whole."""
        own = PromptOverride.of_overlay(self._descriptor, tag, overlay)
        below = PromptOverride.of_overlay(
            self._descriptor,
            tag,
            Overlay(sections={}) if self._built_on is None else self._built_on.override.overlay,
        )
        await self._store.upsert(self._descriptor, below.merged(own), replace=True)

    async def get(self, namespace: str, key: str, tag: str) -> Overlay | None:
        """What is under the mask, with what it builds on."""
        found = await self._store.resolve(self._descriptor, tag=tag)
        if found is None:
            return None
        if found.stale:
            raise ConflictError(
                what=f"the mask {tag} cannot be used",
                why=f"it was made for another prompt: {found.stale[0]}",
                fix="run the optimization and its workers with the same prompt",
                code="stale_override",
            )
        return found.override.overlay

    async def delete(
        self, namespace: str, key: str, tag: str, *, lease: Lease | None = None
    ) -> None:
        """Take the mask away; one that is gone is fine."""
        prompt = self._descriptor
        await self._store.delete(namespace=prompt.namespace, key=prompt.key, tag=tag)

    async def list_tags(self, namespace: str, key: str, *, prefix: str = "") -> list[str]:
        """The tags of the prompt that start with the prefix, sorted."""
        prompt = self._descriptor
        return await self._store.list_tags(
            namespace=prompt.namespace, key=prompt.key, prefix=prefix
        )
