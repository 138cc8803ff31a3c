"""Optimizers by name: the built-in ones, and those of other packages by entry point."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Union, get_args, get_origin, get_type_hints

from burnish.domain import Optimizer, UsageError

GROUP = "burnish.optimizers"
_BUILT_IN: Mapping[str, tuple[str, str]] = {
    "auto": ("burnish.optimizers.auto", "Auto"),
    "bootstrap": ("burnish.optimizers.examples.bootstrap", "Bootstrap"),
    "compress": ("burnish.optimizers.compress.optimizer", "Compress"),
    "edits": ("burnish.optimizers.edits.optimizer", "Edits"),
    "evolve": ("burnish.optimizers.evolve.optimizer", "Evolve"),
    "few_shot": ("burnish.optimizers.examples.few_shot", "FewShot"),
    "gepa": ("burnish.optimizers.gepa.optimizer", "Gepa"),
    "gepa_reference": ("burnish.optimizers.gepa_package.optimizer", "GepaReference"),
    "grid": ("burnish.optimizers.parameters.grid_search", "GridSearch"),
    "meta_prompt": ("burnish.optimizers.meta_prompt", "MetaPrompt"),
    "parameters": ("burnish.optimizers.parameters.optimizer", "Parameters"),
    "random": ("burnish.optimizers.random_search", "RandomSearch"),
}
_METHODS = ("initialize", "propose", "observe", "should_stop")
_NAMES = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    type(None): "nothing",
}


def list_optimizers() -> list[str]:
    """Names that `build_optimizer` knows, in alphabetical order."""
    return sorted({*_BUILT_IN, *_third_party()})


def build_optimizer(name: str, settings: Mapping[str, Any]) -> Optimizer:
    """An optimizer by its name, with its settings checked against what its constructor takes.

    A built-in one wins over another package's of the same name.
    """
    make = optimizer_maker(name)
    check_settings(name, make, settings)
    try:
        optimizer = make(**settings)
    except TypeError as error:
        raise UsageError(
            what=f"the optimizer {name!r} cannot be made",
            why=str(error),
            fix="correct its settings",
            code="invalid_setting",
        ) from error
    missing = next((one for one in _METHODS if not callable(getattr(optimizer, one, None))), None)
    if missing:
        raise UsageError(
            what=f"{name!r} cannot be used as an optimizer",
            why=f"it has no method {missing}",
            fix=f"give it the methods {', '.join(_METHODS)}",
            code="invalid_optimizer",
        )
    return optimizer


def is_built_in(name: str) -> bool:
    """Whether it is part of this package."""
    return name in _BUILT_IN


def optimizer_maker(name: str) -> Callable[..., Optimizer]:
    """What makes an optimizer of a name; UsageError when there is none, or it cannot be loaded."""
    if name in _BUILT_IN:
        module, attribute = _BUILT_IN[name]
        made: Callable[..., Optimizer] = getattr(import_module(module), attribute)
        return made
    third_party = _third_party()
    if name in third_party:
        return _loaded(third_party[name])
    known = list_optimizers()
    close = get_close_matches(str(name), known, n=1)
    hint = f"did you mean {close[0]!r}? There are " if close else "use one of "
    raise UsageError(
        what=f"there is no optimizer {name!r}",
        why="it is neither built in nor registered by an installed package",
        fix=hint + ", ".join(known),
        code="unknown_optimizer",
    )


def _third_party() -> dict[str, EntryPoint]:
    found = sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value))
    # The first of equal names stays, so what is installed later cannot replace it by chance.
    return {point.name: point for point in reversed(found)}


def _loaded(point: EntryPoint) -> Callable[..., Optimizer]:
    try:
        made = point.load()
    except Exception as error:
        raise UsageError(
            what=f"the optimizer {point.name!r} cannot be loaded",
            why=f"{point.value} fails with {type(error).__name__}: {error}",
            fix="mend or uninstall the package that registers it",
            code="broken_optimizer",
        ) from error
    if not inspect.isclass(made) and not callable(made):
        raise UsageError(
            what=f"the optimizer {point.name!r} cannot be made",
            why=f"{point.value} is a {type(made).__name__}",
            fix="register a class, or a function that returns an optimizer",
            code="broken_optimizer",
        )
    maker: Callable[..., Optimizer] = made
    return maker


def check_settings(name: str, make: Callable[..., Any], settings: Mapping[str, Any]) -> None:
    """Raise UsageError for a setting that is unknown, missing or of the wrong type."""
    parameters = inspect.signature(make).parameters
    open_ended = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    known = {
        key: one
        for key, one in parameters.items()
        if one.kind in (one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD)
    }
    hints = _hints(make)
    for key, value in settings.items():
        if key in known:
            _check_type(name, key, value, hints.get(key))
        elif not open_ended:
            raise _unknown(name, key, list(known))
    for key, one in known.items():
        if one.default is one.empty and key not in settings:
            raise UsageError(
                what=f"the optimizer {name!r} lacks its setting {key!r}",
                why="it has no default",
                fix=f"add {key}",
                code="missing_setting",
            )


def _hints(make: Callable[..., Any]) -> dict[str, Any]:
    """Types by name; none where they cannot be resolved, as in a module that imports lazily."""
    target = make.__init__ if inspect.isclass(make) else make
    try:
        return get_type_hints(target)
    except (NameError, TypeError, AttributeError):
        return {}


def _check_type(name: str, key: str, value: Any, hint: Any) -> None:
    if hint is None or fits(value, hint):
        return
    raise UsageError(
        what=f"the setting {key!r} of the optimizer {name!r} cannot be used",
        why=f"{value!r:.80} is not {describe(hint)}",
        fix=f"give {key} {describe(hint)}, or leave it out for the default",
        code="invalid_setting",
    )


def fits(value: Any, hint: Any) -> bool:
    """Whether a plain value may stand for a type; what is not understood fits."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return any(fits(value, one) for one in get_args(hint))
    if hint is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if hint in (bool, str, type(None)):
        return isinstance(value, hint)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        inner = get_args(hint)
        return isinstance(value, Mapping) and all(fits(v, inner[1]) for v in value.values())
    if isinstance(origin, type) and issubclass(origin, Sequence):
        plain = isinstance(value, (list, tuple))
        return plain and all(fits(v, get_args(hint)[0]) for v in value)
    return True


def describe(hint: Any) -> str:
    """A type in words."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        kinds = [describe(one) for one in get_args(hint) if one is not type(None)]
        return " or ".join(kinds)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return f"a table whose values are each {describe(get_args(hint)[1])}"
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return f"a list whose entries are each {describe(get_args(hint)[0])}"
    return _NAMES.get(hint, str(getattr(hint, "__name__", hint)))


def _unknown(name: str, key: str, known: list[str]) -> UsageError:
    close = get_close_matches(str(key), known, n=1, cutoff=0.5)
    every = ", ".join(sorted(known)) or "none"
    return UsageError(
        what=f"the optimizer {name!r} has no setting {key!r}",
        why="it cannot be guessed what it is for",
        fix=f"did you mean {close[0]!r}? It has {every}" if close else f"it has {every}",
        code="unknown_setting",
    )
