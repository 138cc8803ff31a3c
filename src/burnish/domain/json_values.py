"""JSON values: what may stand in a configuration, an item or a stored record."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from burnish.domain.errors import UsageError

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"


# Python writes out integers of up to 4,300 digits.
_MOST_BITS = 14_000


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
