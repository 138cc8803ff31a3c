"""Rows from values and back: one by its names, many in one statement, or column by column.

SQLAlchemy's own way to insert many rows builds a dictionary and a parameter set for each. Here a
statement is built once; SQLite runs it over plain tuples, and PostgreSQL gets all rows as one
JSON parameter, which costs a tenth of sending them one by one. Reading thousands of rows is cheap
when their columns are decoded as a whole.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from enum import Enum
from functools import cache, cached_property, partial
from importlib import import_module
from itertools import repeat
from typing import Any, TypeVar

from sqlalchemy import (
    Column,
    ColumnElement,
    Insert,
    Select,
    Table,
    bindparam,
    cast,
    func,
    select,
    type_coerce,
)
from sqlalchemy import column as sql_column
from sqlalchemy.types import Text

from burnish.storage.engine.codec import JsonText, PlainText, SafeText, encode_json, encode_texts
from burnish.storage.engine.connections import AsyncConnection
from burnish.storage.engine.database import AnyRow

T = TypeVar("T")
Row = tuple[Any, ...]

_EXISTING = ("fail", "skip", "replace")


def chunks(values: Sequence[T], size: int = 500) -> Iterator[Sequence[T]]:
    """The values in parts that fit into one statement."""
    for start in range(0, len(values), size):
        yield values[start : start + size]


async def rows_of_many(
    connection: AsyncConnection,
    statement: Select[Any],
    name: str,
    values: Iterable[T],
    **bound: Any,
) -> list[AnyRow]:
    """The rows for each of the values, which the statement takes as a list of that name."""
    found: list[AnyRow] = []
    for chunk in chunks(list(dict.fromkeys(values))):
        found.extend(await connection.execute(statement, {**bound, name: chunk}))
    return found


class BulkInsert:
    """Inserts rows that have a value for each of the table's columns, in their order.

    Rows whose key exists make it fail, are skipped, or are replaced.
    """

    def __init__(self, table: Table, *, existing: str = "fail") -> None:
        assert existing in _EXISTING
        self._table, self._existing = table, existing
        self._names = [column.name for column in table.columns]
        self._encoders = [_encoder(column.type) for column in table.columns]

    async def __call__(self, connection: AsyncConnection, rows: Sequence[Row]) -> int:
        """How many rows were written."""
        if not rows:
            return 0
        encoded = self._encoded(rows)
        if connection.dialect.name == "sqlite":
            return (await connection.exec_driver_sql(self._sqlite, list(encoded))).rowcount
        named = [dict(zip(self._names, row, strict=True)) for row in encoded]
        return (await connection.execute(self._postgres, {"rows": encode_json(named)})).rowcount

    # Made when they are first used: whoever only reads loads no dialect and compiles nothing.
    @cached_property
    def _postgres(self) -> Any:
        statement = _with_conflict(_from_json(self._table), self._table, self._existing)
        return statement.execution_options(preserve_rowcount=True)

    @cached_property
    def _sqlite(self) -> str:
        from sqlalchemy.dialects import sqlite  # noqa: PLC0415 - see above

        statement = _with_conflict(sqlite.insert(self._table), self._table, self._existing)
        compiled = statement.compile(dialect=sqlite.dialect(paramstyle="qmark"))
        assert list(compiled.positiontup or ()) == self._names
        return str(compiled)

    def _encoded(self, rows: Sequence[Row]) -> Iterable[Row]:
        columns = zip(zip(*rows, strict=True), self._encoders, strict=True)
        return zip(*(encode(column) for column, encode in columns), strict=True)


def _encoder(kind: Any) -> Callable[[Sequence[Any]], Iterable[Any]]:
    """How a whole column is encoded."""
    if isinstance(kind, SafeText):
        return encode_texts
    if isinstance(kind, JsonText):
        return partial(map, encode_json)
    return iter


def _from_json(table: Table) -> Any:
    """INSERT … SELECT … FROM json_to_recordset(:rows) AS rows(id TEXT, …)."""
    from sqlalchemy.dialects import postgresql  # noqa: PLC0415 - only where it is used

    # Values are encoded already, so the columns are given their bare types.
    columns = [
        sql_column(column.name, Text() if isinstance(column.type, PlainText) else column.type)
        for column in table.columns
    ]
    rows = (
        func.json_to_recordset(cast(bindparam("rows", type_=Text), postgresql.JSON))
        .table_valued(*columns, name="rows")
        .render_derived(with_types=True)
    )
    return postgresql.insert(table).from_select(
        [column.name for column in table.columns], select(*rows.c)
    )


def _with_conflict(statement: Any, table: Table, existing: str) -> Insert:
    if existing == "fail":
        return statement  # type: ignore[no-any-return]
    key = list(table.primary_key.columns)
    if existing == "skip":
        return statement.on_conflict_do_nothing(index_elements=key)  # type: ignore[no-any-return]
    others = [column.name for column in table.columns if not column.primary_key]
    return statement.on_conflict_do_update(  # type: ignore[no-any-return]
        index_elements=key, set_={name: statement.excluded[name] for name in others}
    )


def by_dialect(make: Callable[[Any], Insert]) -> dict[str, Insert]:
    """A statement for each dialect, made with its own `insert` when it is first used."""
    return _ByDialect(make)


class _ByDialect(dict[str, Insert]):
    """Loads a dialect no sooner than a database of it is written to: that takes its time."""

    def __init__(self, make: Callable[[Any], Insert]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, dialect: str) -> Insert:
        self[dialect] = self._make(import_module(f"sqlalchemy.dialects.{dialect}").insert)
        return self[dialect]


def skipping_insert(table: Table, *key: str) -> dict[str, Insert]:
    """Inserts by dialect that do nothing where the row is there, or one with the same key."""
    columns = [table.c[name] for name in key] or None
    return by_dialect(
        lambda insert: (
            insert(table)
            .on_conflict_do_nothing(index_elements=columns)
            .execution_options(preserve_rowcount=True)
        )
    )


def row_of(table: Table, value: object, /, **given: Any) -> dict[str, Any]:
    """A row in the order of the table's columns: what is given, and the value's fields else."""
    row: dict[str, Any] = {}
    for name in table.c.keys():  # noqa: SIM118 - iterating gives columns
        held = given[name] if name in given else getattr(value, name)
        row[name] = held.value if isinstance(held, Enum) else held
    return row


def value_of(kind: type[T], row: AnyRow, /, **given: Any) -> T:
    """A value of a dataclass: what is given, and the row's columns of the same names else."""
    stored = row._mapping  # noqa: SLF001 - SQLAlchemy's public name for it
    names = _names(kind)  # type: ignore[arg-type]
    return kind(**{name: stored[name] for name in names if name in stored} | given)


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(one.name for one in fields(kind))


def as_stored(column: Column[Any]) -> ColumnElement[Any]:
    """The column, not decoded: a look at all of its values together is cheaper."""
    if not isinstance(column.type, (SafeText, JsonText)):
        return column
    return type_coerce(column, PlainText).label(column.name)


def by_column(rows: Sequence[AnyRow]) -> dict[str, Sequence[Any]]:
    """The values of each column, of one row at least."""
    return dict(zip(rows[0]._fields, zip(*rows, strict=True), strict=True))


def values_of(kind: type[T], count: int, columns: Mapping[str, Iterable[Any]]) -> list[T]:
    """So many values of a frozen dataclass with slots, from a column for each of its fields.

    Its own `__init__` sets each field of each value with a call from Python, which takes three
    times as long as setting each column from C. As there, a field may be left to its default.
    """
    made: list[T] = list(map(object.__new__, repeat(kind, count)))
    for field in fields(kind):  # type: ignore[arg-type]
        given = field.name in columns or field.default is MISSING
        column = columns[field.name] if given else repeat(field.default)
        deque(map(getattr(kind, field.name).__set__, made, column), maxlen=0)
    return made
