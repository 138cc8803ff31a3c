"""Where the documents of tags are kept: the little that a backend has to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from burnish.overrides.names import PromptAddress, TagAddress

Edit: TypeAlias = Callable[[bytes | None], bytes]


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
