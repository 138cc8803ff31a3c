"""Configured objects: their versions, one of them active."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Integer, and_, bindparam, insert, or_, select, update

from burnish.domain import ConflictError, UsageError, exact_hash
from burnish.domain.pages import Page
from burnish.domain.registry import ObjectKind, ObjectVersion
from burnish.storage.engine.bulk import skipping_insert, value_of
from burnish.storage.engine.codec import PlainText, SafeText
from burnish.storage.engine.connections import AsyncConnection
from burnish.storage.engine.database import AnyRow, Database
from burnish.storage.engine.listing import page_of, sorted_page
from burnish.storage.registry.tables import object_versions, objects
from burnish.support.ids import new_id

_heads, _rows = objects.c, object_versions.c
_of_id = _heads.id == bindparam("of_id", type_=SafeText)
_named = and_(
    _heads.kind == bindparam("of_kind", type_=PlainText),
    _heads.scope == bindparam("of_scope", type_=SafeText),
    _heads.name == bindparam("of_name", type_=SafeText),
)
_expected = bindparam("expected", type_=Integer)
_register = skipping_insert(objects, "kind", "scope", "name")
# The row stays locked until the end, so changes at once come one after the other.
_lock = select(_heads.id, _heads.active_version).where(_named).with_for_update()
_next = (
    update(objects)
    .where(_of_id, or_(_expected.is_(None), _heads.active_version == _expected))
    .values(last_version=_heads.last_version + 1, active_version=_heads.last_version + 1)
    .returning(_heads.last_version)
)
_add = insert(object_versions)
_versions = select(
    _heads.id,
    _heads.kind,
    _heads.scope,
    _heads.name,
    _heads.active_version,
    *(column for column in _rows if column.name != "object_id"),
).join_from(objects, object_versions)
_is_active = _rows.version == _heads.active_version
_active_named = _versions.where(_named, _is_active)
_active_of_id = _versions.where(
    _of_id, _heads.kind == bindparam("of_kind", type_=PlainText), _is_active
)
_one = _versions.where(_of_id, _rows.version == bindparam("of_version", type_=Integer))


class SqlObjectRepository:
    """Keeps versions of objects. Nothing is ever overwritten: a change is a new version."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(
        self,
        kind: ObjectKind,
        name: str,
        document: Mapping[str, Any],
        *,
        scope: str = "",
        author: str = "",
        expected_version: int | None = None,
    ) -> ObjectVersion:
        """A new version, active at once; an equal document stays the version that it is.

        With `expected_version`, ConflictError when another version is active by now (0: none is).
        """
        key = {"of_kind": kind.value, "of_scope": scope, "of_name": name}
        row = {
            "document_hash": exact_hash(document),
            "author": author,
            "created_at": self._database.stamp(),
            "document": dict(document),
        }
        identity = new_id()

        async def work(connection: AsyncConnection) -> AnyRow:
            await _ensure(connection, identity, key)
            head = (await connection.execute(_lock, key)).one()
            bound = {"of_id": head.id, "of_version": head.active_version}
            active = (await connection.execute(_one, bound)).one_or_none()
            # Also what an earlier attempt wrote whose answer was lost.
            if active is not None and active.document_hash == row["document_hash"]:
                return active
            number = await connection.scalar(_next, {**bound, "expected": expected_version})
            if number is None:
                raise _moved(kind, name, head.active_version)
            await connection.execute(_add, {**row, "object_id": head.id, "version": number})
            return (await connection.execute(_one, {**bound, "of_version": number})).one()

        return _read(await self._database.write(work))

    async def get(self, kind: ObjectKind, name: str, *, scope: str = "") -> ObjectVersion:
        """The active version; UsageError `not_found` when there is no such object."""
        key = {"of_kind": kind.value, "of_scope": scope, "of_name": name}
        found = await self._database.one_row(_active_named, key)
        if found is None:
            raise _missing(kind, repr(name))
        return _read(found)

    async def find(self, kind: ObjectKind, identity: str) -> ObjectVersion:
        """The active version of the object with this id; UsageError `not_found` without one."""
        bound = {"of_id": identity, "of_kind": kind.value}
        found = await self._database.one_row(_active_of_id, bound)
        if found is None:
            raise _missing(kind, f"with the id {identity!r}")
        return _read(found)

    async def version(self, identity: str, number: int) -> ObjectVersion:
        """One version of an object; UsageError `not_found` when there is none."""
        found = await self._database.one_row(_one, {"of_id": identity, "of_version": number})
        if found is None:
            raise UsageError(
                what=f"there is no version {number} of {identity!r}",
                why="no such version is stored",
                fix="take a number from its versions",
                code="not_found",
            )
        return _read(found)

    async def page(
        self,
        kind: ObjectKind,
        *,
        scope: str | None = None,
        limit: int = 50,
        after: Sequence[Any] | None = None,
    ) -> Page[ObjectVersion]:
        """Active versions by scope and name."""
        wanted = _versions.where(_is_active, _heads.kind == kind.value)
        if scope is not None:
            wanted = wanted.where(_heads.scope == scope)
        keys = [_heads.scope, _heads.name]
        statement = sorted_page(wanted, keys, down=False, limit=limit, after=after)
        return page_of(await self._database.all_rows(statement), limit, _read, "scope", "name")

    async def versions(
        self, identity: str, *, limit: int = 50, after: Sequence[Any] | None = None
    ) -> Page[ObjectVersion]:
        """The newest first."""
        wanted = _versions.where(_heads.id == identity)
        statement = sorted_page(wanted, [_rows.version], down=True, limit=limit, after=after)
        return page_of(await self._database.all_rows(statement), limit, _read, "version")


async def _ensure(connection: AsyncConnection, identity: str, key: Mapping[str, str]) -> None:
    new = {
        "id": identity,
        "kind": key["of_kind"],
        "scope": key["of_scope"],
        "name": key["of_name"],
        "active_version": 0,
        "last_version": 0,
    }
    await connection.execute(_register[connection.dialect.name], new)


def _missing(kind: ObjectKind, which: str) -> UsageError:
    word = kind.value.replace("agent_", "")
    return UsageError(
        what=f"there is no {word} {which}",
        why="none is stored",
        fix=f"take one from the list of {word}s, or make it first",
        code="not_found",
    )


def _moved(kind: ObjectKind, name: str, active: int) -> ConflictError:
    word = kind.value.replace("agent_", "")
    return ConflictError(
        what=f"the {word} {name!r} was not changed",
        why=f"its active version is {active} by now" if active else "no version of it is there yet",
        fix="look at it as it is now, then change it again",
        code="version_moved",
    )


def _read(row: AnyRow) -> ObjectVersion:
    return value_of(
        ObjectVersion, row, kind=ObjectKind(row.kind), active=row.version == row.active_version
    )
