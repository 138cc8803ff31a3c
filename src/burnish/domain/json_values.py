"""JSON values: what may stand in a stored record, its canonical form, and one hash for one meaning.

The rules of the canonical form, in order:

1. Text is normalised: Unicode NFC; `\\r\\n` and `\\r` become `\\n`; spaces and tabs at the end of a
   line go; newlines at the end of the text go. Leading space stays. Keys get NFC only.
2. Numbers are equal by value: 1, 1.0 and 1e0 are one number, and so are 0 and -0.0.
3. Keys may stand in any order. Two keys that NFC makes equal are refused.
4. NaN, infinities and values that are not JSON are refused, with the path where they stand.
5. The result is serialised by RFC 8785 and hashed with SHA-256.

`exact_hash` leaves rule 1 out: it is for data that is used as it stands, such as dataset items.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import rfc8785

from burnish.domain.errors import UsageError

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

# Python writes out integers of up to 4,300 digits.
_MOST_BITS = 14_000

_LINE_END_SPACE = re.compile(r"[ \t]+(?=\n)")
_EXACT_INTEGERS = 2**53 - 1
# Marks what RFC 8785 cannot say. Text that starts with it is marked too, so nothing collides.
_MARK = "\x00"
_PLAIN_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def require_json(value: Any, *, where: str = "$") -> Json:
    """The value as plain lists and dicts, or an error that names the path of what is not JSON."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        if value.bit_length() > _MOST_BITS:
            raise _refused(where, "a number has too many digits to be written")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise _refused(where, f"{value} is not a JSON number")
        return float(value)
    if isinstance(value, Mapping):
        return {
            _require_key(key, where): require_json(inner, where=f"{where}.{key}")
            for key, inner in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [require_json(inner, where=f"{where}[{i}]") for i, inner in enumerate(value)]
    raise _refused(where, f"{type(value).__name__} is not a JSON type")


def _require_key(key: object, where: str) -> str:
    if not isinstance(key, str):
        raise _refused(where, f"the key {key!r} is a {type(key).__name__}, not text")
    return key


def _refused(where: str, why: str) -> UsageError:
    return UsageError(
        what=f"the value at {where} cannot be stored",
        why=why,
        fix="use text, finite numbers, true, false, null, lists and objects with text keys",
        code="not_json",
    )


def normalise_text(text: str) -> str:
    """Text under rule 1. Normalising twice changes nothing."""
    unified = unicodedata.normalize("NFC", text).replace("\r\n", "\n").replace("\r", "\n")
    if " \n" in unified or "\t\n" in unified:
        unified = _LINE_END_SPACE.sub("", unified)
    return unified.rstrip("\n \t")


def normalise_json(value: Any, *, where: str = "$") -> Json:
    """A JSON value with all its text under rule 1."""
    return _normalise(require_json(value, where=where), where)


def canonical_json(value: Any) -> bytes:
    """The canonical bytes of a value under all rules."""
    return _encoded(normalise_json(value), checked=True)


def canonical_hash(value: Any) -> str:
    """Hexadecimal SHA-256 of the canonical bytes: equal exactly when the meaning is equal."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def exact_hash(value: Any) -> str:
    """Like `canonical_hash`, with text taken byte for byte."""
    return hashlib.sha256(_encoded(value)).hexdigest()


def text_hash(text: str) -> str:
    """Hexadecimal SHA-256 of raw text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _is_plain(value: Any) -> bool:
    """Whether the standard encoder writes this exactly as RFC 8785 does: most dataset rows are so."""
    kind = type(value)
    if kind is str or kind is int:
        return bool(value[:1] != _MARK if kind is str else abs(value) <= _EXACT_INTEGERS)
    if kind is dict:
        # Most of what is hashed: a loop without calls for text takes half the time.
        for key, inner in value.items():
            if type(key) is not str or not key.isascii() or key[:1] == _MARK:
                return False
            if type(inner) is str:
                if inner[:1] == _MARK:
                    return False
            elif not _is_plain(inner):
                return False
        return True
    if kind is list:
        return all(map(_is_plain, value))
    if kind is not float:
        return value is None or kind is bool
    # Whole numbers are written without a point there; others differ in when they get an exponent.
    return bool(not value.is_integer() and 1e-4 <= abs(value) < 1e15)


def _encoded(value: Any, *, checked: bool = False) -> bytes:
    if _is_plain(value):
        try:
            return _PLAIN_ENCODER.encode(value).encode()
        except UnicodeEncodeError:
            pass  # The careful way below says where the broken text stands.
    careful = _encodable(value if checked else require_json(value), "$")
    return _PLAIN_ENCODER.encode(careful).encode() if _is_plain(careful) else rfc8785.dumps(careful)


def _normalise(value: Json, where: str) -> Json:
    if isinstance(value, str):
        return normalise_text(value)
    if isinstance(value, Mapping):
        renamed: dict[str, Json] = {}
        for key, inner in value.items():
            name = unicodedata.normalize("NFC", key)
            if name in renamed:
                raise UsageError(
                    what=f"two keys at {where} are the same text",
                    why=f"both read {name!r} once Unicode is normalised (NFC)",
                    fix="rename one of them",
                    code="duplicate_key",
                )
            renamed[name] = _normalise(inner, f"{where}.{key}")
        return renamed
    if isinstance(value, list):
        return [_normalise(inner, f"{where}[{i}]") for i, inner in enumerate(value)]
    return value


def _encodable(value: Any, where: str) -> Any:
    if isinstance(value, str):
        _refuse_surrogates(value, where)
        return _MARK + value if value.startswith(_MARK) else value
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return _encodable_integer(value)
    if isinstance(value, float) and value.is_integer() and abs(value) <= _EXACT_INTEGERS:
        return int(value)
    if isinstance(value, Mapping):
        return {
            _encodable(key, where): _encodable(inner, f"{where}.{key}")
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_encodable(inner, f"{where}[{i}]") for i, inner in enumerate(value)]
    return value


def _encodable_integer(value: int) -> int | float | str:
    """Integers past 2**53 as the equal float where there is one, else as marked digits."""
    if abs(value) <= _EXACT_INTEGERS:
        return value
    try:
        nearest = float(value)
    except OverflowError:
        nearest = math.inf
    return nearest if nearest == value else f"{_MARK}int:{value}"


def _refuse_surrogates(text: str, where: str) -> None:
    if text.isascii():
        return
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError(
            what=f"the text at {where} cannot be stored",
            why=f"character {error.start} is half of a surrogate pair, which is not valid Unicode",
            fix="save the source as valid UTF-8",
            code="not_unicode",
        ) from error
