"""A JSON document: a list of objects, or an object that holds one such list."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from burnish.evaluation.datasets.json_cursor import JsonCursor
from burnish.evaluation.datasets.problems import ProblemKind, RowProblem
from burnish.evaluation.datasets.rows import RawRow
from burnish.evaluation.datasets.strict_json import BrokenJson


def read_json_document(path: Path) -> Iterator[RawRow | RowProblem]:
    """Rows in order. What follows a broken place cannot be trusted, so reading ends there."""
    with path.open("rb") as file:
        cursor = JsonCursor(file)
        try:
            for row in _rows(cursor):
                for key in cursor.decoder.take_repeated():
                    message = f"the key {key!r} stands twice; the last one counts"
                    yield RowProblem.at(path, row.line, None, ProblemKind.DUPLICATE_KEY, message)
                yield row
        except BrokenJson as broken:
            yield RowProblem.at(path, broken.line, broken.column, broken.kind, broken.message)


def _rows(cursor: JsonCursor) -> Iterator[RawRow]:
    start = cursor.peek()
    if start == "[":
        yield from _elements(cursor)
    elif start == "{":
        yield from _only_list(cursor)
    elif start:
        raise cursor.broken("the document is neither a list of rows nor an object that holds one")
    if cursor.peek():
        raise cursor.broken("text follows after the end (is it JSON Lines? name it .jsonl)")


def _elements(cursor: JsonCursor) -> Iterator[RawRow]:
    cursor.require("[")
    if cursor.take("]"):
        return
    while True:
        cursor.peek()
        line = cursor.line
        yield RawRow(line, cursor.value())
        if cursor.take("]"):
            return
        cursor.require(",")


def _only_list(cursor: JsonCursor) -> Iterator[RawRow]:
    """The rows of the one list of objects; other values, lists of texts too, are passed over."""
    found: str | None = None
    empty = False
    cursor.require("{")
    while not cursor.take("}"):
        name = _key(cursor)
        if cursor.peek() != "[":
            cursor.value()
        else:
            here = cursor.broken(f"both {found!r} and {name!r} are lists of rows; keep one")
            rows = _elements(cursor)
            first = next(rows, None)
            if first is not None and isinstance(first.value, dict):
                if found is not None:
                    raise here
                found = name
                yield first
                yield from rows
            else:
                empty = empty or first is None
                for _ in rows:
                    pass
        if cursor.peek() != "}":
            cursor.require(",")
    if found is None and not empty:
        raise cursor.broken("the object holds no list of rows")


def _key(cursor: JsonCursor) -> str:
    if cursor.peek() != '"':
        raise cursor.broken("not valid JSON (expecting a key in double quotes)")
    name = str(cursor.value())
    cursor.require(":")
    return name
