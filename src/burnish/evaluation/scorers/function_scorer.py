"""Function scorer: your own Python function, and what it may return."""

from __future__ import annotations

import functools
import inspect
import math
import traceback
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from numbers import Real
from pathlib import Path
from typing import Any

from burnish.domain import AgentOutput, Item, Score, UsageError
from burnish.evaluation.scorers.fields import error_score, require_text
from burnish.evaluation.views import ItemView, OutputText
from burnish.models.fingerprints import callable_fingerprint
from burnish.support.threads import DaemonThreads

_THREADS = 32
_WANTED = "return a number, True or False, burnish.Score(…), or {'score': …, 'reason': …}"


class FunctionScorer:
    """Calls `(output, item)`: text that remembers its output, and the item's fields as a dict.

    The function may be plain or async, and returns a number, a bool, a Score or a dict with
    `score` and `reason`. A plain one runs on the event loop, since most take microseconds; say
    `blocking=True` for one that waits or computes for long. What it raises becomes an error score.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        blocking: bool = False,
        version: str | None = None,
        fields: Sequence[str] = (),
    ) -> None:
        if not callable(function):
            raise _bad(function, f"a {type(function).__name__} cannot be called")
        _check_parameters(function)
        self.name = require_text(
            "python", "name", callable_name(function) if name is None else name
        )
        self.function = function
        self.fields_needed: tuple[str, ...] = tuple(fields)
        self.fingerprint = callable_fingerprint(function, version)
        self.instant = not blocking and not is_async(function)
        self._threads = DaemonThreads(_THREADS) if blocking and not is_async(function) else None

    async def score(self, output: AgentOutput, item: Item) -> Score:
        """The function's verdict on one output."""
        text, view = OutputText(output), ItemView(item)
        try:
            if self._threads is not None:
                value = await self._threads.run(self.function, text, view)
            else:
                value = self.function(text, view)
            if type(value) is not float and inspect.isawaitable(value):
                value = await value
            return as_score(value, self.name)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a user's code raises
            return error_score(self.name, self._describe(error))

    def _describe(self, error: BaseException) -> str:
        frames = traceback.extract_tb(error.__traceback__)
        code = getattr(inspect.unwrap(self.function), "__code__", None)
        own = [frame for frame in frames if code is not None and frame.filename == code.co_filename]
        frame = (own or frames)[-1]
        return f"{type(error).__name__}: {error} ({Path(frame.filename).name}:{frame.lineno})"


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling it gives something to await."""
    while isinstance(function, functools.partial):
        function = function.func
    call = getattr(type(function), "__call__", None)  # noqa: B004 - an object may be async to call
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def callable_name(function: Callable[..., Any]) -> str:
    """A name for people: the function's, or the class's of a callable object."""
    while isinstance(function, functools.partial):
        function = function.func
    name = getattr(function, "__name__", type(function).__name__)
    return "function" if name == "<lambda>" else str(name)


def _check_parameters(function: Callable[..., Any]) -> None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return  # Some built-ins have none to look at.
    try:
        signature.bind("output", "item")
    except TypeError as error:
        raise _bad(function, f"it takes {signature}, and is called with (output, item)") from error


def _bad(function: object, why: str) -> UsageError:
    name = callable_name(function) if callable(function) else repr(function)
    return UsageError(
        what=f"the scorer {name} cannot be used",
        why=why,
        fix="write it as def score(output, item), plain or async",
        code="invalid_scorer",
    )


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
