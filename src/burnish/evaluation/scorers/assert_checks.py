"""Assert checks of a row: read, and held against an output; no code is run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from burnish.domain import AgentOutput, Json, UsageError
from burnish.domain.wording import counted
from burnish.evaluation.scorers.comparison import (
    TextRule,
    Tolerance,
    alternatives,
    as_text,
    same_value,
    shown,
)
from burnish.evaluation.scorers.json_values import NotJsonError, json_of, schema_validator
from burnish.support.number_checks import is_number

SET = "assert-set"
RUBRIC = "llm-rubric"
_NOT = "not-"
_DEEPEST = 5
_MOST = 1000
AnyCheck: TypeAlias = "Check | CheckSet"
LONGEST_PATTERN = 500
# Two of them side by side take a time that grows with the square of the text, and so on.
MOST_REPEATS = 3
_REPEATED_GROUP = re.compile(r"(?<!\\)\)[*+{]")
_REPEAT = re.compile(r"(?<!\\)(?:[*+]|\{\d*,\})")
WHY_SLOW = (
    "the pattern could take for ever: it repeats a group, repeats without an end more "
    f"than {MOST_REPEATS} times, or has more than {LONGEST_PATTERN} characters"
)
# What promptfoo allows where an assert says nothing.
_EDITS = 5
_BOUNDS = ("min", "max")
_MOST_OPENINGS = 500
_STRIPPED = TextRule()
_AS_IT_IS = TextRule(strip=False)
_ANY_CASE = TextRule(strip=False, ignore_case=True)
# Why an output fails, or None when it passes.
Finding: TypeAlias = "str | None"


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
        if given is not None and (not is_number(given) or given < 0):
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


def may_take_for_ever(pattern: str) -> bool:
    """Whether some text could keep the pattern busy; it errs on the side of saying so."""
    return (
        len(pattern) > LONGEST_PATTERN
        or _REPEATED_GROUP.search(pattern) is not None
        or len(_REPEAT.findall(pattern)) > MOST_REPEATS
    )


def check_output(check: Check, output: AgentOutput, text: str) -> Finding:
    """Why the output fails the check; None when it passes. BadAssertError for an unusable check."""
    look = _LOOKS.get(check.type)
    if look is None:
        known = ", ".join(_LOOKS)
        raise BadAssertError(f"there is no assert {check.type!r}; there are {known} and llm-rubric")
    found = look(check, output, text)
    if not check.negated:
        return found
    return "it should not, and it does" if found is None else None


def known_types() -> tuple[str, ...]:
    """The types that need no model."""
    return tuple(_LOOKS)


def require_pattern(value: Json) -> re.Pattern[str]:
    """A pattern that ends soon; BadAssertError for any other."""
    if not isinstance(value, str) or not value:
        raise BadAssertError("a regex is a text of at least one character")
    return _compiled(value)


def require_schema(value: Json) -> Any:
    """The validator of a schema that can be used; BadAssertError for any other."""
    try:
        return _validator(json.dumps(value, sort_keys=True))
    except (UsageError, ValueError, TypeError, RecursionError) as error:
        why = error.why if isinstance(error, UsageError) else str(error)
        raise BadAssertError(f"its schema cannot be used: {why}") from error


def _equals(check: Check, output: AgentOutput, text: str) -> Finding:
    wanted = check.value
    if isinstance(wanted, str) or wanted is None:
        same = _STRIPPED.fold(text) == _STRIPPED.fold(wanted or "")
    else:
        same = _STRIPPED.fold(text) == as_text(wanted) or _same_json(output, wanted)
    return None if same else "it is something else"


def _same_json(output: AgentOutput, wanted: Json) -> bool:
    try:
        return same_value(json_of(output), wanted, _STRIPPED, Tolerance())
    except (NotJsonError, RecursionError):
        return False


def _containing(rule: TextRule, *, every: bool) -> Callable[[Check, AgentOutput, str], Finding]:
    def look(check: Check, output: AgentOutput, text: str) -> Finding:
        needles = _needles(check)
        folded = rule.fold(text)
        absent = [one for one in needles if rule.fold(one) not in folded]
        if not absent or (not every and len(absent) < len(needles)):
            return None
        return f"it lacks {', '.join(map(shown, absent))}"

    return look


def _needles(check: Check) -> list[str]:
    needles = [as_text(one) for one in alternatives(check.value) if one is not None]
    if not needles or not all(needles):
        raise BadAssertError(f"{check.type} has nothing to look for")
    return needles


def _starts_with(check: Check, output: AgentOutput, text: str) -> Finding:
    begin = _needles(check)[0]
    return None if text.startswith(begin) else "it starts otherwise"


def _regex(check: Check, output: AgentOutput, text: str) -> Finding:
    return None if require_pattern(check.value).search(text) else "nothing in it matches"


def _levenshtein(check: Check, output: AgentOutput, text: str) -> Finding:
    from rapidfuzz.distance import Levenshtein  # noqa: PLC0415 - only who compares so loads it

    wanted = _AS_IT_IS.fold(as_text("" if check.value is None else check.value))
    most = _EDITS if check.threshold is None else check.threshold
    distance = Levenshtein.distance(_AS_IT_IS.fold(text), wanted)
    return None if distance <= most else f"it is {distance} edits away, allowed are {most:g}"


def _is_json(check: Check, output: AgentOutput, text: str) -> Finding:
    validator = None if check.value is None else require_schema(check.value)
    try:
        value = json_of(output)
    except NotJsonError as error:
        return f"it is not JSON: {error}"
    return None if validator is None else _violation(validator, value)


def _contains_json(check: Check, output: AgentOutput, text: str) -> Finding:
    validator = None if check.value is None else require_schema(check.value)
    values = [output.data] if isinstance(output.data, (Mapping, list)) else _json_in(text)
    problem = "it holds no JSON object or list"
    for value in values:
        found = None if validator is None else _violation(validator, value)
        if found is None:
            return None
        problem = found
    return problem


def _json_in(text: str) -> Iterator[Json]:
    """JSON objects and lists anywhere in a text, outermost ones only."""
    decoder = json.JSONDecoder()
    position = 0
    for _ in range(_MOST_OPENINGS):
        opening = re.compile(r"[\[{]").search(text, position)
        if opening is None:
            return
        try:
            value, position = decoder.raw_decode(text, opening.start())
            yield value
        except (ValueError, RecursionError):
            position = opening.start() + 1


def _violation(validator: Any, value: Json) -> Finding:
    try:
        error = next(validator.iter_errors(value), None)
    except Exception as problem:  # A broken reference, too deep nesting.
        raise BadAssertError(f"its schema cannot be applied: {problem}") from problem
    return None if error is None else f"{error.json_path}: {error.message[:300]}"


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    if may_take_for_ever(pattern):
        raise BadAssertError(WHY_SLOW)
    try:
        return re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise BadAssertError(f"{pattern!r} is not a regular expression: {error}") from error


@lru_cache(maxsize=64)
def _validator(schema: str) -> Any:
    value = json.loads(schema)
    if not isinstance(value, dict):
        raise BadAssertError("it is no object")
    for pattern in _patterns(value):
        _compiled(pattern)
    return schema_validator(value)


def _patterns(value: Any) -> Iterator[str]:
    """Every pattern that the schema would search with."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "pattern" and isinstance(inner, str):
                yield inner
            elif key == "patternProperties" and isinstance(inner, dict):
                yield from inner
            yield from _patterns(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _patterns(inner)


def _word_count(check: Check, output: AgentOutput, text: str) -> Finding:
    """`value` is a number of words, or an object with `min` and `max`."""
    wanted = check.value
    bounds = {"min": wanted, "max": wanted} if is_number(wanted) else wanted
    if not isinstance(bounds, Mapping) or not any(is_number(bounds.get(one)) for one in _BOUNDS):
        raise BadAssertError("a word-count is a number, or an object with min and max")
    words = len(text.split())
    least, most = (bounds.get(one) for one in _BOUNDS)
    short = least is not None and words < float(str(least))
    long = most is not None and words > float(str(most))
    return f"it has {counted(words, 'word')}" if short or long else None


def _finish_reason(check: Check, output: AgentOutput, text: str) -> Finding:
    if output.finish_reason is None:
        return "the model tells no finish reason"
    wanted = "stop" if check.value is None else check.value
    return None if output.finish_reason == wanted else f"it ended by {output.finish_reason}"


_LOOKS: Mapping[str, Callable[[Check, AgentOutput, str], Finding]] = {
    "equals": _equals,
    "contains": _containing(_AS_IT_IS, every=True),
    "icontains": _containing(_ANY_CASE, every=True),
    "contains-all": _containing(_AS_IT_IS, every=True),
    "contains-any": _containing(_AS_IT_IS, every=False),
    "icontains-all": _containing(_ANY_CASE, every=True),
    "icontains-any": _containing(_ANY_CASE, every=False),
    "starts-with": _starts_with,
    "regex": _regex,
    "is-json": _is_json,
    "contains-json": _contains_json,
    "levenshtein": _levenshtein,
    "word-count": _word_count,
    "finish-reason": _finish_reason,
}
