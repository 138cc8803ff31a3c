"""What a user's scorer returned, turned into a score."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from numbers import Real
from typing import Any

from burnish.domain import Score
from burnish.evaluation.scorers.fields import error_score

_WANTED = "return a number, True or False, burnish.Score(…), or {'score': …, 'reason': …}"


def as_score(value: Any, name: str) -> Score:
    """The score, or an error score that says what to return instead."""
    kind = type(value)
    if kind is float or kind is int or kind is bool:
        return _checked(value, "", None, name)
    if isinstance(value, Score):
        return Score(value.value, value.reason, value.passed, name, value.error, value.spending)
    if isinstance(value, Mapping):
        return _from_mapping(value, name)
    return _from_number(value, "", None, name)


def _from_mapping(value: Mapping[str, Any], name: str) -> Score:
    for key in ("score", "value"):
        if key in value:
            reason = value.get("reason")
            passed = value.get("passed", value.get("pass"))
            decided = None if passed is None else bool(passed)
            return _from_number(value[key], "" if reason is None else str(reason), decided, name)
    keys = ", ".join(map(repr, value)) or "no keys"
    return error_score(name, f"the scorer returned a dict with {keys} and no 'score'; {_WANTED}")


def _from_number(value: Any, reason: str, passed: bool | None, name: str) -> Score:
    if isinstance(value, (Real, Decimal)):
        return _checked(value, reason, passed, name)
    if type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_"):
        return _checked(bool(value), reason, passed, name)
    if value is None:
        return error_score(name, f"the scorer returned None; {_WANTED}")
    return error_score(
        name, f"the scorer returned {value!r:.100} ({type(value).__name__}); {_WANTED}"
    )


def _checked(value: Any, reason: str, passed: bool | None, name: str) -> Score:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        return error_score(name, f"the scorer returned {number}, which is not a finite number")
    return Score(number, reason, passed, name)
