"""Where a page begins: the sort key of the last row of the page before."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Integer, Select, literal, tuple_

from burnish.domain import UsageError
from burnish.domain.json_values import Json
from burnish.storage.engine.codec import PlainText

# Rows without a score stand below all that have one.
NO_SCORE = -1e300
_LARGEST = 2**31


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
