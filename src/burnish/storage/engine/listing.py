"""Pages and text search of lists, on every database alike."""

from __future__ import annotations

import math
import string
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Integer, Select, func, literal, tuple_, type_coerce

from burnish.domain import UsageError
from burnish.domain.json_values import Json
from burnish.domain.pages import Page
from burnish.storage.engine.codec import PlainText, encode_json, encode_text

T = TypeVar("T")
R = TypeVar("R")

# Rows without a score stand below all that have one.
NO_SCORE = -1e300
_LARGEST = 2**31

# As databases do it: of ASCII letters only.
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def sorted_page(
    statement: Select[Any],
    keys: Sequence[ColumnElement[Any]],
    *,
    down: bool,
    limit: int,
    after: Sequence[Any] | None,
) -> Select[Any]:
    """The statement in the order of the keys, from `after` on, with one row more than is wanted.

    The last key must be unique, or the keys together.
    """
    if after is not None:
        _check(after, keys)
        bounds = [literal(value, key.type) for value, key in zip(after, keys, strict=True)]
        place, bound = tuple_(*keys), tuple_(*bounds)
        statement = statement.where(place < bound if down else place > bound)
    order = [key.desc() if down else key.asc() for key in keys]
    return statement.order_by(*order).limit(limit + 1)


def page_of(rows: Sequence[R], limit: int, read: Callable[[R], T], *key: str) -> Page[T]:
    """The page of rows that `sorted_page` found; the key names what they were sorted by."""
    last = rows[limit - 1] if len(rows) > limit else None
    place = None if last is None else tuple(getattr(last, name) for name in key)
    return Page(items=[read(row) for row in rows[:limit]], next=place)


def _check(after: Sequence[Json], keys: Sequence[ColumnElement[Any]]) -> None:
    fits = len(after) == len(keys) and all(map(_fits, after, keys))
    if not fits:
        raise UsageError(
            what="the page cannot be found",
            why="the cursor belongs to another list or another order",
            fix="take `next_cursor` from the page before, with the same sort, or leave it out",
            code="invalid_cursor",
        )


def _fits(value: Json, key: ColumnElement[Any]) -> bool:
    if isinstance(key.type, PlainText):
        return isinstance(value, str)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    if isinstance(key.type, Integer):
        return isinstance(value, int) and abs(value) < _LARGEST
    return math.isfinite(value)


def holds_text(column: ColumnElement[str], part: str) -> ColumnElement[bool]:
    """Whether a text has a part."""
    return _lowered(column).contains(_as_stored(part.translate(_LOWER)), autoescape=True)


def starts_with_text(column: ColumnElement[str], part: str) -> ColumnElement[bool]:
    """Whether a text begins with a part."""
    return _lowered(column).startswith(_as_stored(part.translate(_LOWER)), autoescape=True)


def holds_json(column: ColumnElement[Any], part: str) -> ColumnElement[bool]:
    """Whether a JSON value has a part in one of its texts or names."""
    inside = encode_json(part.translate(_LOWER)) or ""
    return _lowered(column).contains(inside[1:-1], autoescape=True)


def _lowered(column: ColumnElement[Any]) -> ColumnElement[str]:
    lowered: ColumnElement[str] = func.lower(type_coerce(column, PlainText), type_=PlainText())
    return lowered


def _as_stored(part: str) -> str:
    """Part of a text as it stands in the database, where some characters are kept escaped."""
    stored = encode_text(part)
    return part if stored is None or stored == part else stored[2:-1]
