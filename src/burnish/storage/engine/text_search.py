"""Looking for part of a text in what is stored, on every database alike: ASCII letters in any case."""

from __future__ import annotations

import string
from typing import Any

from sqlalchemy import ColumnElement, func, type_coerce

from burnish.storage.engine.codec import PlainText, encode_json, encode_text

# As databases do it: of ASCII letters only.
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


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
