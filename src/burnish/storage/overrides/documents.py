"""Keeps documents of tags as text, beside the overlays of masks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy import bindparam, delete, select, type_coerce, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from burnish.domain import UnavailableError
from burnish.storage.engine.codec import PlainText, SafeText
from burnish.storage.engine.database import Database
from burnish.storage.optimizations.tables import overrides

_MOST_MEETINGS = 100

_columns = overrides.c
_under_key = (_columns.namespace == bindparam("of_namespace", type_=SafeText)) & (
    _columns.prompt_key == bindparam("of_key", type_=SafeText)
)
_is_tag = _under_key & (_columns.tag == bindparam("of_tag", type_=SafeText))
# As it stands: whoever reads a damaged document can say which one it is.
_get = select(type_coerce(_columns.document, PlainText)).where(_is_tag)
_get_to_change = _get.with_for_update()
_text = bindparam("text", type_=PlainText)
_update = update(overrides).where(_is_tag).values(document=_text)
_delete = delete(overrides).where(_is_tag)
_list = select(_columns.tag).where(_under_key)
_row = {
    "namespace": bindparam("of_namespace", type_=SafeText),
    "prompt_key": bindparam("of_key", type_=SafeText),
    "tag": bindparam("of_tag", type_=SafeText),
    "document": _text,
}
_insert = {
    # Without the option the number of rows is not kept on every driver.
    name: dialect.insert(overrides)
    .values(_row)
    .on_conflict_do_nothing()
    .execution_options(preserve_rowcount=True)
    for name, dialect in (("sqlite", sqlite), ("postgresql", postgresql))
}


class SqlOverrideDocuments:
    """Documents by (namespace, key, tag) on an open database; a change is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, namespace: str, key: str, tag: str) -> str | None:
        """The document of a tag."""
        bound = _bound(namespace, key, tag)
        text: str | None = await self._database.read(
            lambda connection: connection.scalar(_get, bound)
        )
        return text

    async def change(
        self, namespace: str, key: str, tag: str, edit: Callable[[str | None], str]
    ) -> None:
        """Replace the document by what `edit` makes of it; that may be asked more than once."""
        bound = _bound(namespace, key, tag)

        async def work(connection: AsyncConnection) -> bool:
            found: str | None = await connection.scalar(_get_to_change, bound)
            made = edit(found)
            if made == found:
                return True
            if found is not None:
                await connection.execute(_update, {**bound, "text": made})
                return True
            # There was no row to lock: on PostgreSQL another writer may have made it since.
            insert = _insert[connection.dialect.name]
            return (await connection.execute(insert, {**bound, "text": made})).rowcount == 1

        for _ in range(_MOST_MEETINGS):
            if await self._database.write(work):
                return
        raise UnavailableError(
            what=f"the tag {tag} was not written to {self._database.location}",
            why="others kept making and deleting it at the same time",
            fix="try again later",
            code="overrides_busy",
        )

    async def delete(self, namespace: str, key: str, tag: str) -> None:
        """Take the tag away; one that is gone is fine."""
        bound = _bound(namespace, key, tag)

        async def work(connection: AsyncConnection) -> None:
            await connection.execute(_delete, bound)

        await self._database.write(work)

    async def list_tags(self, namespace: str, key: str) -> list[str]:
        """The tags under a key."""
        bound = {"of_namespace": namespace, "of_key": key}

        async def work(connection: AsyncConnection) -> Sequence[str]:
            return (await connection.scalars(_list, bound)).all()

        return list(await self._database.read(work))


def _bound(namespace: str, key: str, tag: str) -> dict[str, str]:
    return {"of_namespace": namespace, "of_key": key, "of_tag": tag}
