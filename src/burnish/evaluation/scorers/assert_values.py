"""Asserts as a row holds them: read, checked, and told apart."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from burnish.domain import Json
from burnish.evaluation.scorers.comparison import shown

SET = "assert-set"
RUBRIC = "llm-rubric"
_NOT = "not-"
_DEEPEST = 5
_MOST = 1000


class BadAssertError(ValueError):
    """An assert that cannot be used; the message says which and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One assert. `negated` is the `not-` before its type."""

    type: str
    value: Json = None
    negated: bool = False
    weight: float = 1.0
    threshold: float | None = None
    metric: str = ""

    @property
    def label(self) -> str:
        """How a reason names it."""
        named = f"{_NOT * self.negated}{self.type}"
        words = "" if self.value is None else f" {shown(self.value)}"
        return f"{self.metric}: {named}{words}" if self.metric else f"{named}{words}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSet:
    """Asserts that count together: all of them, or a share of at least `threshold`."""

    checks: tuple[AnyCheck, ...]
    weight: float = 1.0
    threshold: float | None = None
    metric: str = ""

    @property
    def label(self) -> str:
        """How a reason names it."""
        return self.metric or SET


AnyCheck: TypeAlias = "Check | CheckSet"


def read_asserts(value: Any) -> CheckSet:
    """The asserts of a row: a list, or an object with `assert` and a `threshold`."""
    wrapped = {"assert": value} if isinstance(value, (list, tuple)) else value
    if not isinstance(wrapped, Mapping) or "assert" not in wrapped:
        raise BadAssertError("it is neither a list of asserts nor an object with `assert`")
    return _read_set(wrapped, "", 0)


def _read_set(value: Mapping[str, Any], place: str, depth: int) -> CheckSet:
    inner = value.get("assert")
    if not isinstance(inner, (list, tuple)):
        raise BadAssertError(f"{_named(place)}`assert` is not a list")
    if depth > _DEEPEST:
        raise BadAssertError(f"{_named(place)}sets nest more than {_DEEPEST} deep")
    if len(inner) > _MOST:
        raise BadAssertError(f"{_named(place)}there are more than {_MOST} asserts")
    checks = tuple(
        _read_one(one, f"{place}{number}", depth) for number, one in enumerate(inner, start=1)
    )
    return CheckSet(checks=checks, **_common(value, place))


def _read_one(value: Any, place: str, depth: int) -> AnyCheck:
    if not isinstance(value, Mapping):
        raise BadAssertError(f"{_named(place)}it is not an object")
    kind = value.get("type")
    if not isinstance(kind, str) or not kind:
        raise BadAssertError(f"{_named(place)}it has no `type`")
    if kind == SET:
        return _read_set(value, f"{place}.", depth + 1)
    return Check(
        type=kind.removeprefix(_NOT),
        negated=kind.startswith(_NOT),
        value=value.get("value"),
        **_common(value, place),
    )


def _common(value: Mapping[str, Any], place: str) -> dict[str, Any]:
    weight, threshold = value.get("weight"), value.get("threshold")
    for name, given in (("weight", weight), ("threshold", threshold)):
        if given is not None and (not _is_number(given) or given < 0):
            why = f"its {name} {given!r:.100} is not a finite number from 0 up"
            raise BadAssertError(f"{_named(place)}{why}")
    metric = value.get("metric")
    return {
        "weight": 1.0 if weight is None else float(weight),
        "threshold": None if threshold is None else float(threshold),
        "metric": metric if isinstance(metric, str) else "",
    }


def _named(place: str) -> str:
    return f"assert {place.rstrip('.')}: " if place else ""


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False
