"""Optimizers by name: the built-in ones, and those of other packages by entry point."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from burnish.domain import Optimizer, UsageError
from burnish.optimizers.signatures import check_settings

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
