"""Overrides by tag: overlays of configurations, and documents as text, in one table."""

from __future__ import annotations

import sys
from collections.abc import Callable

from sqlalchemy import bindparam, delete, or_, select, type_coerce, update

from burnish.domain import Lease, Overlay, UnavailableError
from burnish.storage.engine.bulk import BulkInsert, by_dialect
from burnish.storage.engine.codec import PlainText, SafeText, encode_text
from burnish.storage.engine.connections import AsyncConnection
from burnish.storage.engine.database import Database
from burnish.storage.jobs import leases
from burnish.storage.optimizations.tables import overrides

_columns = overrides.c
_under_key = (_columns.namespace == bindparam("of_namespace", type_=SafeText)) & (
    _columns.prompt_key == bindparam("of_key", type_=SafeText)
)
_is_tag = _under_key & (_columns.tag == bindparam("of_tag", type_=SafeText))
_put = BulkInsert(overrides, existing="replace")
_get = select(_columns.document).where(_is_tag)
_delete = delete(overrides).where(_is_tag)
_list = select(_columns.tag).where(_under_key)
# Between bounds of the stored form. Text that is kept escaped does not start with what it stands
# for, so all of that is fetched.
_low, _high, _escaped, _plain = (
    bindparam(name, type_=PlainText) for name in ("low", "high", "escaped", "plain")
)
_list_some = _list.where(
    or_(
        (_columns.tag >= _low) & (_columns.tag < _high),
        (_columns.tag >= _escaped) & (_columns.tag < _plain),
    )
)
_ESCAPED = {"escaped": "\x02", "plain": "\x03"}

_MOST_MEETINGS = 100

# As it stands: whoever reads a damaged document can say which one it is.
_get_text = select(type_coerce(_columns.document, PlainText)).where(_is_tag)
_get_to_change = _get_text.with_for_update()
_text = bindparam("text", type_=PlainText)
_update = update(overrides).where(_is_tag).values(document=_text)
_row = {
    "namespace": bindparam("of_namespace", type_=SafeText),
    "prompt_key": bindparam("of_key", type_=SafeText),
    "tag": bindparam("of_tag", type_=SafeText),
    "document": _text,
}
# Without the option the number of rows is not kept on every driver.
_insert = by_dialect(
    lambda insert: (
        insert(overrides)
        .values(_row)
        .on_conflict_do_nothing()
        .execution_options(preserve_rowcount=True)
    )
)


class SqlOverlayStore:
    """An OverlayStore on an open database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(
        self, namespace: str, key: str, tag: str, overlay: Overlay, *, lease: Lease | None = None
    ) -> None:
        """Replace the tag whole."""
        row = (namespace, key, tag, overlay.to_json())

        async def work(connection: AsyncConnection) -> None:
            await leases.share(connection, lease)
            await _put(connection, [row])

        await self._database.write(work)

    async def get(self, namespace: str, key: str, tag: str) -> Overlay | None:
        """What is under the tag."""
        bound = _bound(namespace, key, tag)
        document = await self._database.read(lambda connection: connection.scalar(_get, bound))
        return None if document is None else Overlay.of(document)

    async def delete(
        self, namespace: str, key: str, tag: str, *, lease: Lease | None = None
    ) -> None:
        """Take the tag away; one that is gone is fine."""
        bound = _bound(namespace, key, tag)

        async def work(connection: AsyncConnection) -> None:
            await leases.share(connection, lease)
            await connection.execute(_delete, bound)

        await self._database.write(work)

    async def list_tags(self, namespace: str, key: str, *, prefix: str = "") -> list[str]:
        """The tags that start with the prefix, sorted."""
        bound = {"of_namespace": namespace, "of_key": key}
        after = _next_after(prefix)
        if after is not None and encode_text(prefix) == prefix:
            statement, bound = _list_some, {**bound, "low": prefix, "high": after, **_ESCAPED}
        else:
            statement = _list
        rows = await self._database.all_rows(statement, bound)
        return sorted(row.tag for row in rows if row.tag.startswith(prefix))


def _next_after(prefix: str) -> str | None:
    """The first text past all that start with the prefix, by code point; None when all might."""
    kept = prefix.rstrip(chr(sys.maxunicode))
    if not kept:
        return None
    last = ord(kept[-1]) + 1
    # No text of a database holds half a surrogate pair.
    return kept[:-1] + chr(0xE000 if 0xD800 <= last < 0xE000 else last)


class SqlOverrideDocuments:
    """Documents by (namespace, key, tag) on an open database; a change is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, namespace: str, key: str, tag: str) -> str | None:
        """The document of a tag."""
        bound = _bound(namespace, key, tag)
        text: str | None = await self._database.read(
            lambda connection: connection.scalar(_get_text, bound)
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
        await self._database.write(lambda connection: connection.execute(_delete, bound))

    async def list_tags(self, namespace: str, key: str) -> list[str]:
        """The tags under a key."""
        bound = {"of_namespace": namespace, "of_key": key}
        return [row.tag for row in await self._database.all_rows(_list, bound)]


def _bound(namespace: str, key: str, tag: str) -> dict[str, str]:
    return {"of_namespace": namespace, "of_key": key, "of_tag": tag}
