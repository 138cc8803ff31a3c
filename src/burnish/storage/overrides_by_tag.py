"""Keeps overlays of configurations by tag."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from sqlalchemy import bindparam, delete, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from burnish.domain import Lease, Overlay
from burnish.storage.engine.bulk import BulkInsert
from burnish.storage.engine.codec import PlainText, SafeText, encode_text
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
        bound = {"of_namespace": namespace, "of_key": key, "of_tag": tag}
        document = await self._database.read(lambda connection: connection.scalar(_get, bound))
        return None if document is None else Overlay.of(document)

    async def delete(
        self, namespace: str, key: str, tag: str, *, lease: Lease | None = None
    ) -> None:
        """Take the tag away; one that is gone is fine."""
        bound = {"of_namespace": namespace, "of_key": key, "of_tag": tag}

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

        async def work(connection: AsyncConnection) -> Sequence[str]:
            return (await connection.scalars(statement, bound)).all()

        return sorted(tag for tag in await self._database.read(work) if tag.startswith(prefix))


def _next_after(prefix: str) -> str | None:
    """The first text past all that start with the prefix, by code point; None when all might."""
    kept = prefix.rstrip(chr(sys.maxunicode))
    if not kept:
        return None
    last = ord(kept[-1]) + 1
    # No text of a database holds half a surrogate pair.
    return kept[:-1] + chr(0xE000 if 0xD800 <= last < 0xE000 else last)
