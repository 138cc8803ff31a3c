"""Where a page begins, as text that means nothing to clients."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from typing import Any

from burnish.domain import UsageError

_LONGEST = 2000


def encode_cursor(order: str, place: Sequence[Any] | None) -> str | None:
    """The cursor of a place in a list that is sorted so."""
    if place is None:
        return None
    text = json.dumps([order, *place], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode_cursor(order: str, cursor: str | None) -> list[Any] | None:
    """The place that a cursor stands for, in a list that is sorted so."""
    if cursor is None:
        return None
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        text = base64.b64decode(padded.encode("ascii"), altchars=b"-_", validate=True)
        value = json.loads(text)
    except (ValueError, UnicodeError, binascii.Error, RecursionError):
        raise _bad("it is not a cursor") from None
    if not isinstance(value, list) or not value or len(cursor) > _LONGEST:
        raise _bad("it is not a cursor")
    if value[0] != order:
        raise _bad("it belongs to a list that is sorted otherwise")
    return value[1:]


def _bad(why: str) -> UsageError:
    return UsageError(
        what="the cursor cannot be used",
        why=why,
        fix="take `next_cursor` from the page before, with the same filters and sort",
        code="invalid_cursor",
    )
