"""Label sets on an open database: items, labels with their history, and versions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import and_, bindparam, func, insert, or_, select, update

from burnish.domain import ConflictError, Json, UsageError
from burnish.domain.labels import Label, LabelItem, LabelRules, LabelSet, LabelState, LabelVersion
from burnish.domain.pages import Page
from burnish.storage.engine.bulk import BulkInsert, chunks, row_of, rows_of_many, value_of
from burnish.storage.engine.bulk import skipping_insert as skipping
from burnish.storage.engine.codec import SafeText
from burnish.storage.engine.connections import AsyncConnection
from burnish.storage.engine.database import AnyRow, Database
from burnish.storage.engine.listing import page_of, sorted_page
from burnish.storage.labels.tables import label_items, label_sets, label_versions, labels

_sets, _items, _labels, _versions = (
    one.c for one in (label_sets, label_items, labels, label_versions)
)
_of_set = bindparam("of_set", type_=SafeText)
_ids = bindparam("ids", type_=SafeText, expanding=True)
_by_name = select(label_sets).where(or_(_sets.id == _of_set, _sets.name == _of_set)).limit(1)
# The row stays locked until the end, so labels that come at once come one after the other.
_lock = select(_sets.last_version).where(_sets.id == _of_set).with_for_update()
_item_ids = select(_items.id).where(_items.label_set_id == _of_set).order_by(_items.position)
_items_by_id = select(label_items).where(_items.label_set_id == _of_set, _items.id.in_(_ids))
_given = select(labels).where(_labels.label_set_id == _of_set, _labels.current)
_ordered = (_labels.item_id, _labels.person, _labels.number)
_given_of_items = _given.where(_labels.item_id.in_(_ids))
_replace = (
    update(labels)
    .where(
        _labels.label_set_id == _of_set,
        _labels.item_id == bindparam("of_item", type_=SafeText),
        _labels.person == bindparam("of_person", type_=SafeText),
        _labels.current,
    )
    .values(current=False)
)
_counts = (
    select(_labels.person, _labels.state, func.count())
    .where(_labels.label_set_id == _of_set, _labels.current)
    .group_by(_labels.person, _labels.state)
    .order_by(_labels.person)
)
_add_items, _add_labels = BulkInsert(label_items), BulkInsert(labels)
_add_set, _add_version = skipping(label_sets, "name"), insert(label_versions)
_count_up = update(label_sets).where(_sets.id == _of_set)
_of_number = and_(_versions.label_set_id == _of_set, _versions.version == bindparam("of_number"))
# Without what was given, which may be much.
_version = select(*(one for one in _versions if one.name != "given"))


class SqlLabels:
    """Keeps label sets. A label is never overwritten: what is said anew stands beside it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, made: LabelSet, items: Sequence[LabelItem]) -> LabelSet:
        """A new set with its items, all or none; ConflictError when the name is taken."""
        made = replace(made, created_at=self._database.stamp(), items=len(items))
        rows = [
            (made.id, one.id, place, dict(one.data), one.output, one.other, dict(one.origin))
            for place, one in enumerate(items)
        ]
        head = row_of(label_sets, made, rules=made.rules.to_json(), source=dict(made.source))

        async def work(connection: AsyncConnection) -> None:
            added = await connection.execute(_add_set[connection.dialect.name], head)
            if not added.rowcount:
                raise ConflictError(
                    what=f"the label set {made.name!r} was not made",
                    why="there is one of that name",
                    fix="choose another name, or delete that one",
                    code="name_taken",
                )
            for chunk in chunks(rows):
                await _add_items(connection, chunk)

        await self._database.write(work)
        return made

    async def get(self, wanted: str) -> LabelSet:
        """By id or name; UsageError `not_found` when there is none."""
        found = await self._database.one_row(_by_name, {"of_set": wanted})
        if found is None:
            raise _missing(f"there is no label set {wanted!r}", "none of that name or id is stored")
        return _read_set(found)

    async def page(self, *, limit: int, after: Sequence[Any] | None = None) -> Page[LabelSet]:
        """The newest first."""
        keys = [_sets.created_at, _sets.id]
        statement = sorted_page(select(label_sets), keys, down=True, limit=limit, after=after)
        rows = await self._database.all_rows(statement)
        return page_of(rows, limit, _read_set, "created_at", "id")

    async def delete(self, set_id: str) -> None:
        """Take a set away with its labels; datasets that its versions made stay."""

        async def work(connection: AsyncConnection) -> None:
            for table in (label_versions, labels, label_items):
                await connection.execute(table.delete().where(table.c.label_set_id == set_id))
            await connection.execute(label_sets.delete().where(_sets.id == set_id))

        await self._database.write(work)

    async def item_ids(self, set_id: str) -> list[str]:
        """In the order in which they were made."""
        return [one.id for one in await self._database.all_rows(_item_ids, {"of_set": set_id})]

    async def items(self, set_id: str, item_ids: Sequence[str]) -> list[LabelItem]:
        """Those items, in that order."""
        rows = await self._database.read(
            lambda connection: rows_of_many(
                connection, _items_by_id, "ids", item_ids, of_set=set_id
            )
        )
        found = {row.id: value_of(LabelItem, row) for row in rows}
        return [found[one] for one in item_ids if one in found]

    async def write(self, set_id: str, given: Sequence[Label]) -> int:
        """Keep labels, all or none; those that say what counts already change nothing."""
        stamp = self._database.stamp()

        async def work(connection: AsyncConnection) -> int:
            await connection.execute(_lock, {"of_set": set_id})
            ids = [one.item_id for one in given]
            known = await rows_of_many(connection, _items_by_id, "ids", ids, of_set=set_id)
            if unknown := set(ids) - {row.id for row in known}:
                raise _missing(
                    f"there is no item {min(unknown)!r}", "the label set has none of that id"
                )
            rows = await rows_of_many(connection, _given_of_items, "ids", ids, of_set=set_id)
            before = {(row.item_id, row.person): _read_label(row) for row in rows}
            new = {}
            for one in given:
                key = (one.item_id, one.person)
                last = before.get(key)
                if last is None or not last.says_the_same(one):
                    new[key] = replace(one, number=1 if last is None else last.number + 1)
            old = [(*key, set_id) for key in new if key in before]
            for item_id, person, of_set in old:
                bound = {"of_item": item_id, "of_person": person, "of_set": of_set}
                await connection.execute(_replace, bound)
            for chunk in chunks([_label_row(set_id, one, stamp) for one in new.values()]):
                await _add_labels(connection, chunk)
            return len(new)

        return await self._database.write(work)

    async def labels(
        self, set_id: str, *, person: str | None = None, history: bool = False
    ) -> list[Label]:
        """What counts, by item and person; with `history` also what was said before."""
        wanted = select(labels).where(_labels.label_set_id == set_id)
        if not history:
            wanted = wanted.where(_labels.current)
        if person is not None:
            wanted = wanted.where(_labels.person == person)
        return [
            _read_label(row) for row in await self._database.all_rows(wanted.order_by(*_ordered))
        ]

    async def progress(self, set_id: str) -> dict[str, Counter[LabelState]]:
        """How many items each person labelled and skipped, by the person's name."""
        found: dict[str, Counter[LabelState]] = {}
        for person, state, number in await self._database.all_rows(_counts, {"of_set": set_id}):
            found.setdefault(person, Counter())[LabelState(state)] = number
        return found

    async def add_version(
        self, set_id: str, version: LabelVersion, given: Sequence[Sequence[Json]]
    ) -> LabelVersion:
        """The next version; where the last one says the same, that one."""
        stamp = self._database.stamp()

        async def work(connection: AsyncConnection) -> AnyRow:
            last = await connection.scalar(_lock, {"of_set": set_id}) or 0
            wanted = _version.where(_of_number)
            bound = {"of_set": set_id, "of_number": last}
            active = (await connection.execute(wanted, bound)).one_or_none()
            if active is not None and active.digest == version.digest:
                return active
            new = replace(version, version=last + 1, created_at=stamp)
            extra = {"label_set_id": set_id, "people": list(new.people), "given": list(given)}
            await connection.execute(_add_version, row_of(label_versions, new, **extra))
            await connection.execute(_count_up.values(last_version=new.version), {"of_set": set_id})
            return (await connection.execute(wanted, bound | {"of_number": new.version})).one()

        return _read_version(await self._database.write(work))

    async def versions(self, set_id: str) -> list[LabelVersion]:
        """The newest first."""
        wanted = _version.where(_versions.label_set_id == set_id)
        rows = await self._database.all_rows(wanted.order_by(_versions.version.desc()))
        return [_read_version(row) for row in rows]

    async def version(self, set_id: str, number: int) -> tuple[LabelVersion, list[list[Json]]]:
        """A version, and what was given then: item, person, value, comment."""
        bound = {"of_set": set_id, "of_number": number}
        found = await self._database.one_row(select(label_versions).where(_of_number), bound)
        if found is None:
            raise _missing(
                f"the label set has no version {number}", "no such version was made of it"
            )
        return _read_version(found), found.given


def _missing(what: str, why: str) -> UsageError:
    fix = "`burnish labels list` shows the sets, `burnish labels show NAME` what is in one"
    return UsageError(what=what, why=why, fix=fix, code="not_found")


def _label_row(set_id: str, one: Label, stamp: str) -> tuple[Any, ...]:
    values: Mapping[str, Any] = row_of(labels, one, label_set_id=set_id, created_at=stamp)
    return tuple(values.values())


def _read_set(row: AnyRow) -> LabelSet:
    return value_of(LabelSet, row, rules=LabelRules.of(row.rules))


def _read_label(row: AnyRow) -> Label:
    return value_of(Label, row, state=LabelState(row.state))


def _read_version(row: AnyRow) -> LabelVersion:
    return value_of(LabelVersion, row, people=tuple(row.people))
