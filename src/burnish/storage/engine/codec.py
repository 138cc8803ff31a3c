"""Text and JSON that every database takes and gives back unchanged.

PostgreSQL refuses the NUL character in text, and neither database takes half a surrogate pair.
JSON is therefore kept as text, where both can be escaped, and plain text that holds one of them is
kept as a marked JSON string. Everything else is stored as it stands, so it stays readable.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sqlalchemy import Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator, TypeEngine

from burnish.domain import UsageError, require_json

# Stands before text that is kept escaped; text that starts with it is escaped too.
_MARK = "\x02"

_plain = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_escaped = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode
_decode = json.JSONDecoder().decode


def encode_text(text: str | None) -> str | None:
    """Text in the form that is stored."""
    if text is None or (text.isascii() and "\x00" not in text and text[:1] != _MARK):
        return text
    if "\x00" in text or text[:1] == _MARK or not _is_unicode(text):
        return _MARK + _escaped(text)
    return text


def encode_texts(texts: Sequence[str | None]) -> Sequence[str | None]:
    """Many texts at once; a look at all of them together tells whether any needs anything."""
    together = "".join(filter(None, texts))
    if together.isascii() and "\x00" not in together and _MARK not in together:
        return texts
    return [encode_text(text) for text in texts]


def decode_text(text: str | None) -> str | None:
    """What `encode_text` was given."""
    if text is None or text[:1] != _MARK:
        return text
    decoded: str = _decode(text[1:])
    return decoded


def decode_texts(texts: Sequence[str | None]) -> Sequence[str | None]:
    """Many texts at once; a look at all of them together tells whether any needs anything."""
    if _MARK not in "".join(filter(None, texts)):
        return texts
    return [decode_text(text) for text in texts]


def encode_json(value: Any) -> str | None:
    """A JSON value as compact text; None stays None, so an absent value is NULL."""
    if value is None:
        return None
    try:
        text = _plain(value)
    except (TypeError, ValueError, RecursionError):
        return _encode_carefully(value)
    return text if text.isascii() or _is_unicode(text) else _encode_carefully(value)


def _encode_carefully(value: Any) -> str:
    """Other types of mapping and half surrogates are taken; what is not JSON is named."""
    try:
        return _escaped(require_json(value))
    except (ValueError, RecursionError) as error:
        raise UsageError(
            what="a value cannot be stored",
            why="it holds a number of thousands of digits"
            if isinstance(error, ValueError)
            else "it is nested too deeply",
            fix="shorten or flatten it",
            code="not_json",
        ) from None


def decode_json(text: str | None) -> Any:
    """What `encode_json` was given."""
    return None if text is None else _decode(text)


def decode_jsons(texts: Iterable[str]) -> list[Any]:
    """Many JSON values at once, for a fraction of the cost of one at a time."""
    values: list[Any] = _decode(f"[{','.join(texts)}]")
    return values


def _is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


class PlainText(TypeDecorator[str]):
    """Text that our own code makes: hashes, names of kinds, timestamps.

    Sorted by code point on every database, whatever its locale.
    """

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """PostgreSQL sorts by the locale unless told otherwise."""
        if dialect.name == "postgresql":
            return dialect.type_descriptor(Text(collation="C"))
        return dialect.type_descriptor(Text())


class SafeText(PlainText):
    """Text from outside, with whatever characters it has."""

    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any]:
        """On the way in."""
        return encode_text

    def result_processor(self, dialect: Dialect, coltype: Any) -> Callable[[Any], Any]:
        """On the way out."""
        return decode_text


class JsonText(PlainText):
    """A JSON value, kept as text."""

    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any]:
        """On the way in."""
        return encode_json

    def result_processor(self, dialect: Dialect, coltype: Any) -> Callable[[Any], Any]:
        """On the way out."""
        return decode_json
