"""Number checks for settings: a wrong value is refused before a run, not in mid-run."""

from __future__ import annotations

import math

from burnish.domain import UsageError


def require_whole(optimizer: str, setting: str, value: int, *, least: int) -> int:
    """A whole number from `least` up."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise bad_setting(optimizer, setting, f"{value!r} is not a whole number from {least} up")
    return value


def require_fraction(optimizer: str, setting: str, value: float) -> float:
    """A number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise bad_setting(optimizer, setting, f"{value!r} is not a number from 0 to 1")
    return float(value)


def require_target(optimizer: str, value: float | None, *, setting: str = "target") -> float | None:
    """A score to stop at, or None."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
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
