"""JSON that clients make up: any, but not without end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator

T = TypeVar("T", dict[str, Any], list[Any])

_DEEPEST = 20


def require_shallow(value: T) -> T:
    """The value itself, unless it is nested so deep that reading it would not end well."""
    level: list[Any] = [value]
    for _ in range(_DEEPEST):
        level = [inner for one in level for inner in _inside(one)]
        if not level:
            return value
    raise ValueError(f"it is nested more than {_DEEPEST} deep")


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


JsonObject = Annotated[dict[str, Any], AfterValidator(require_shallow)]
