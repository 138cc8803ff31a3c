"""Dataset row as it is read: its own id and split, and the data that is left."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from burnish.domain import SPLITS
from burnish.evaluation.datasets.problems import ProblemKind, RowProblem

_MAX_ID = 256


class RawRow(NamedTuple):
    """What a reader found, and the line where it begins."""

    line: int
    value: Any


class Row(NamedTuple):
    """A row taken apart. `data` is what placeholders see and what the item's hash covers.

    `id` and `split` are taken out of the data: a renamed or moved row stays the same question.
    A `split` column with values of its own (neither a split's name nor empty) is a plain column
    and stays; `foreign_split` then holds the value.
    """

    id: str | None
    split: str | None
    data: Mapping[str, Any]
    foreign_split: str | None = None


Reader: TypeAlias = Callable[[Path], Iterator[RawRow | RowProblem]]


class RefusedRow(Exception):  # noqa: N818 - it never leaves this package
    """A row that cannot become an item."""

    def __init__(self, kind: ProblemKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


def take_apart(value: Any) -> Row:
    """The row's id, split and data; RefusedRow when it is no object or its id is unusable."""
    if not isinstance(value, Mapping):
        raise RefusedRow(ProblemKind.NOT_OBJECT, f"the row is {_kind_of(value)}, not an object")
    if "id" not in value and "split" not in value:
        return Row(None, None, value)
    data = {name: cell for name, cell in value.items() if name not in ("id", "split")}
    row_id = _own_id(value.get("id"))
    split = value.get("split")
    if isinstance(split, str) and split in SPLITS:
        return Row(row_id, split, data)
    if split is None or split == "":
        return Row(row_id, None, data)
    data["split"] = split
    return Row(row_id, None, data, str(split))


def _own_id(given: Any) -> str | None:
    """The id as text. Null and empty text are no id; 7 and 7.0 are the id "7"."""
    if given is None or given == "":
        return None
    if isinstance(given, float) and given.is_integer():
        given = int(given)
    if isinstance(given, bool) or not isinstance(given, (int, str)):
        raise RefusedRow(ProblemKind.BAD_ID, f"the id is {_kind_of(given)}, not text or an integer")
    # An integer of thousands of digits cannot even be turned into text.
    long = isinstance(given, int) and given.bit_length() > 3 * _MAX_ID
    text = "" if long else str(given)
    if long or len(text) > _MAX_ID:
        raise RefusedRow(ProblemKind.BAD_ID, f"the id is longer than {_MAX_ID} characters")
    if not text.isprintable():
        raise RefusedRow(ProblemKind.BAD_ID, f"the id {text!r} holds unprintable characters")
    return text


def _kind_of(value: Any) -> str:
    if value is None:
        return "null"
    names = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list"}
    return names.get(type(value), f"a {type(value).__name__}")
