"""Tags of a compression: the one that it starts from, and the one that keeps its result."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace

from burnish.domain import Configuration, ConflictError
from burnish.optimizers.compress.report import Modification, apply_modifications, override_of
from burnish.overrides import (
    ABSENT,
    PromptDescriptor,
    PromptOverridesStore,
    descriptor_of,
    open_overrides,
    resolve_tag,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionTags:
    """What a tag holds that is there already is never lost, unless it is to be replaced.

    `own` is the prompt without any tag. `store` is a store, or where to open one.
    """

    agent_name: str
    own: Configuration
    store: PromptOverridesStore | str
    tag: str | None = None
    baseline_tag: str | None = None
    replace: bool = False

    @property
    def descriptor(self) -> PromptDescriptor:
        """Of the prompt without any tag."""
        return descriptor_of(self.agent_name, self.own)

    async def baseline(self) -> Configuration:
        """The prompt to start from; refused where the result could not be kept."""
        for name in filter(None, (self.tag, self.baseline_tag)):
            _ = self.descriptor.address.tag(name)
        if self.tag is None and self.baseline_tag is None:
            return self.own
        async with self._opened() as store:
            if self.tag not in (None, self.baseline_tag) and not self.replace:
                await self._require_new(store, str(self.tag))
            if self.baseline_tag is None:
                return self.own
            found = await resolve_tag(store, self.descriptor, self.baseline_tag)
            return self.own if found is None else found.apply(self.own)

    async def keep(self, modifications: Sequence[Modification]) -> None:
        """The baseline tag's overrides, if there is one, with the modifications on top."""
        if self.tag is None:
            return
        async with self._opened() as store:
            source, made = await self._built_on(store, modifications)
            if source is None and self.replace:
                override = override_of(self.descriptor, self.tag, made)
                await store.upsert(self.descriptor, override, replace=True)
                return
            own = self.replace or self.tag == source
            await apply_modifications(
                store,
                self.descriptor,
                made,
                tag=self.tag,
                built_on=source,
                expected=None if own else ABSENT,
            )

    async def _built_on(
        self, store: PromptOverridesStore, modifications: Sequence[Modification]
    ) -> tuple[str | None, list[Modification]]:
        """The tag to build on, and modifications of the prompt's own texts in place of the tag's."""
        if self.baseline_tag is None:
            return None, list(modifications)
        found = await resolve_tag(store, self.descriptor, self.baseline_tag)
        if found is None:
            return None, list(modifications)
        return self.baseline_tag, [
            replace(one, original_hash=found.sections[one.section_path].expected_hash)
            if one.section_path in found.sections
            else one
            for one in modifications
        ]

    async def _require_new(self, store: PromptOverridesStore, tag: str) -> None:
        if await store.resolve(self.descriptor, tag=tag) is not None:
            raise ConflictError(
                what=f"the result cannot be kept under the tag {tag!r}",
                why="the tag is there already, and the result would not have been tried with it",
                fix=f"start from it with --baseline-tag {tag} (baseline_tag=), name another tag, or "
                "let it go with --replace (replace_tag=)",
                code="tag_exists",
            )

    @contextlib.asynccontextmanager
    async def _opened(self) -> AsyncIterator[PromptOverridesStore]:
        if not isinstance(self.store, str):
            yield self.store
            return
        store = open_overrides(self.store)
        try:
            yield store
        finally:
            await store.close()
