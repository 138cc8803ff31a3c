"""A scorer's settings as written in `burnish.toml`: known names, right types."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from burnish.domain import UsageError
from burnish.evaluation.scorers.fields import bad_setting

# Settings of `build_scorer` itself, which every kind takes.
COMMON = ("kind", "weight")

_TEXTS = ("field", "pattern", "path", "name", "match", "decimal", "version")
_FLAGS = ("ignore_case", "strip", "repair", "blocking")
_NUMBERS = ("absolute", "relative", "threshold", "timeout_seconds", "weight")


def nearest(name: str, choices: Iterable[str]) -> str:
    """A hint for people: the choice most like the name, and all there are."""
    known = sorted(choices)
    close = get_close_matches(name, known, n=1)
    every = ", ".join(known)
    return f"did you mean {close[0]!r}? There are {every}" if close else f"use one of {every}"


def checked_settings(
    kind: str, spec: Mapping[str, Any], make: Callable[..., Any]
) -> dict[str, Any]:
    """The settings that the scorer's constructor takes, each checked for its type."""
    known = inspect.signature(make).parameters
    settings = {key: value for key, value in spec.items() if key not in COMMON}
    for key, value in settings.items():
        if key not in known:
            raise UsageError(
                what=f"the scorer {kind!r} has no setting {key!r}",
                why="it cannot be guessed what it is for",
                fix=nearest(str(key), [*known, "weight"]),
                code="unknown_setting",
            )
        _check_type(kind, key, value)
    missing = [
        key
        for key, parameter in known.items()
        if parameter.default is parameter.empty and key not in settings
    ]
    if missing:
        raise bad_setting(kind, missing[0], "it is missing", f"add {missing[0]!r}")
    return settings


def checked_weight(spec: object) -> float:
    """A spec's weight: 1 unless it says otherwise."""
    weight = spec.get("weight", 1.0) if isinstance(spec, Mapping) else 1.0
    if not _is_number(weight) or weight < 0:
        raise bad_setting("scorer", "weight", f"{weight!r} is not a finite number from 0 up")
    return float(weight)


def _check_type(kind: str, key: str, value: Any) -> None:
    if key in _TEXTS and not isinstance(value, str):
        raise bad_setting(kind, key, f"{value!r} is not text")
    if key in _FLAGS and not isinstance(value, bool):
        raise bad_setting(kind, key, f"{value!r} is neither true nor false")
    if key in _NUMBERS and not _is_number(value):
        raise bad_setting(kind, key, f"{value!r} is not a finite number")
    if key == "fields" and not _is_text_list(value):
        raise bad_setting(kind, key, f"{value!r} is not a list of names")
    if key == "parameters" and not isinstance(value, Mapping):
        raise bad_setting(kind, key, f"{value!r} is not a table")
    if key == "text" and not isinstance(value, str) and not _is_text_list(value):
        raise bad_setting(kind, key, f"{value!r} is neither text nor a list of texts")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _is_text_list(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value)
