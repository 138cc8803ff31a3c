"""SQL backend of the overrides: rows of the database that runs are kept in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burnish.overrides.names import PromptAddress, TagAddress
from burnish.overrides.tag_store import Edit, TagStore

if TYPE_CHECKING:
    from burnish.storage import Database


class SqlPromptOverridesStore(TagStore):
    """A PromptOverridesStore on an open database, which stays the caller's.

    It shares the table of the masks, whose namespace no prompt can have.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(_SqlDocuments(database))


class _SqlDocuments:
    """TagDocuments in a table."""

    def __init__(self, database: Database) -> None:
        from burnish.storage.overrides import (  # noqa: PLC0415 - slow to load
            SqlOverrideDocuments,
        )

        self._rows = SqlOverrideDocuments(database)
        self._location = database.location

    def where(self, address: TagAddress) -> str:
        """The database and the row."""
        return f"the row {address} of the table overrides in {self._location}"

    async def read(self, address: TagAddress) -> bytes | None:
        """A whole document, or None when there is none."""
        text = await self._rows.get(*_names(address))
        return None if text is None else text.encode("utf-8")

    async def change(self, address: TagAddress, edit: Edit) -> None:
        """Replace a document by what `edit` makes of it, in one transaction."""

        def edit_text(text: str | None) -> str:
            return edit(None if text is None else text.encode("utf-8")).decode("utf-8")

        await self._rows.change(*_names(address), edit_text)

    async def remove(self, address: TagAddress) -> None:
        """Take a document away; one that is gone is fine."""
        await self._rows.delete(*_names(address))

    async def tags(self, prompt: PromptAddress) -> list[str]:
        """The tags of a prompt."""
        return await self._rows.list_tags(prompt.namespace, prompt.key)

    async def close(self) -> None:
        """The database is the caller's."""


def _names(address: TagAddress) -> tuple[str, str, str]:
    return address.prompt.namespace, address.prompt.key, address.tag
