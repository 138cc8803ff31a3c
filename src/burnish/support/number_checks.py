"""Number checks for settings: a wrong value is refused before a run, not in mid-run."""

from __future__ import annotations

import math
from typing import TypeGuard

from burnish.domain import UsageError


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether it is a finite number; true and false are none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number that no float can hold
        return False


def is_whole(value: object, *, least: int | None = None) -> TypeGuard[int]:
    """Whether it is a whole number, and at least that; true and false are none."""
    if isinstance(value, bool) or not isinstance(value, int):
        return False
    return least is None or value >= least


def require_whole(optimizer: str, setting: str, value: int, *, least: int) -> int:
    """A whole number from `least` up."""
    if not is_whole(value, least=least):
        raise bad_setting(optimizer, setting, f"{value!r} is not a whole number from {least} up")
    return value


def require_positive(optimizer: str, setting: str, value: float) -> float:
    """A number above 0."""
    if not is_number(value) or value <= 0:
        raise bad_setting(optimizer, setting, f"{value!r} is not a number above 0")
    return float(value)


def require_fraction(optimizer: str, setting: str, value: float) -> float:
    """A number from 0 to 1."""
    if not is_number(value) or not 0 <= value <= 1:
        raise bad_setting(optimizer, setting, f"{value!r} is not a number from 0 to 1")
    return float(value)


def require_target(optimizer: str, value: float | None, *, setting: str = "target") -> float | None:
    """A score to stop at, or None."""
    if value is None:
        return None
    if not is_number(value):
        raise bad_setting(optimizer, setting, f"{value!r} is not a finite number")
    return float(value)


def bad_setting(optimizer: str, setting: str, why: str) -> UsageError:
    """The refusal."""
    return UsageError(
        what=f"the setting {setting!r} of the optimizer {optimizer!r} cannot be used",
        why=why,
        fix=f"correct {setting!r}, or leave it out for the default",
        code="invalid_setting",
    )
