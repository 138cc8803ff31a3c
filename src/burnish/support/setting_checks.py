"""Setting checks by a constructor's signature: unknown, missing and of the wrong type."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Union, get_args, get_origin

from burnish.domain import UsageError
from burnish.domain.setting_schemas import parameter_types

_NAMES = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    type(None): "nothing",
}


def check_settings(
    noun: str, name: str, make: Callable[..., Any], settings: Mapping[str, Any]
) -> None:
    """Raise UsageError for a setting that is unknown, missing or of the wrong type."""
    parameters = inspect.signature(make).parameters
    open_ended = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    known = {
        key: one
        for key, one in parameters.items()
        if one.kind in (one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD)
    }
    hints = parameter_types(make)
    for key, value in settings.items():
        if key in known:
            _check_type(noun, name, key, value, hints.get(key))
        elif not open_ended:
            raise _unknown(noun, name, key, list(known))
    for key, one in known.items():
        if one.default is one.empty and key not in settings:
            raise UsageError(
                what=f"the {noun} {name!r} lacks its setting {key!r}",
                why="it has no default",
                fix=f"add {key}",
                code="missing_setting",
            )


def make_with(noun: str, name: str, make: Callable[..., Any], settings: Mapping[str, Any]) -> Any:
    """What a constructor makes of settings that were checked; UsageError when it refuses them."""
    try:
        return make(**settings)
    except TypeError as error:
        raise UsageError(
            what=f"the {noun} {name!r} cannot be made",
            why=str(error),
            fix="correct its settings",
            code="invalid_setting",
        ) from error


def _check_type(noun: str, name: str, key: str, value: Any, hint: Any) -> None:
    if hint is None or _fits(value, hint):
        return
    raise UsageError(
        what=f"the setting {key!r} of the {noun} {name!r} cannot be used",
        why=f"{value!r:.80} is not {_words(hint)}",
        fix=f"give {key} {_words(hint)}, or leave it out for the default",
        code="invalid_setting",
    )


def _fits(value: Any, hint: Any) -> bool:
    """Whether a plain value may stand for a type; what is not understood fits."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return any(_fits(value, one) for one in get_args(hint))
    if hint is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if hint in (bool, str, type(None)):
        return isinstance(value, hint)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        inner = get_args(hint)
        return isinstance(value, Mapping) and all(_fits(v, inner[1]) for v in value.values())
    if isinstance(origin, type) and issubclass(origin, Sequence):
        plain = isinstance(value, (list, tuple))
        return plain and all(_fits(v, get_args(hint)[0]) for v in value)
    return True


def _words(hint: Any) -> str:
    """A type in words."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        kinds = [_words(one) for one in get_args(hint) if one is not type(None)]
        return " or ".join(kinds)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return f"a table whose values are each {_words(get_args(hint)[1])}"
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return f"a list whose entries are each {_words(get_args(hint)[0])}"
    return _NAMES.get(hint, str(getattr(hint, "__name__", hint)))


def _unknown(noun: str, name: str, key: str, known: list[str]) -> UsageError:
    close = get_close_matches(str(key), known, n=1, cutoff=0.5)
    every = ", ".join(sorted(known)) or "none"
    return UsageError(
        what=f"the {noun} {name!r} has no setting {key!r}",
        why="it cannot be guessed what it is for",
        fix=f"did you mean {close[0]!r}? It has {every}" if close else f"it has {every}",
        code="unknown_setting",
    )
