"""Optimizers by name: the built-in ones, and those of other packages by entry point."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from burnish.domain import Optimizer, UsageError
from burnish.support.entry_points import Seam
from burnish.support.hints import nearest
from burnish.support.setting_checks import check_settings, make_with

SEAM = Seam(
    group="burnish.optimizers",
    noun="optimizer",
    wants="a class, or a function that returns an optimizer",
)
_BUILT_IN: Mapping[str, tuple[str, str]] = {
    "auto": ("burnish.optimizers.auto.optimizer", "Auto"),
    "bootstrap": ("burnish.optimizers.examples.bootstrap", "Bootstrap"),
    "compress": ("burnish.optimizers.compress.optimizer", "Compress"),
    "edits": ("burnish.optimizers.edits.optimizer", "Edits"),
    "evolve": ("burnish.optimizers.evolve.optimizer", "Evolve"),
    "few_shot": ("burnish.optimizers.examples.few_shot", "FewShot"),
    "gepa": ("burnish.optimizers.gepa.optimizer", "Gepa"),
    "gepa_reference": ("burnish.optimizers.gepa_package.optimizer", "GepaReference"),
    "grid": ("burnish.optimizers.parameters.grid_search", "GridSearch"),
    "joint": ("burnish.optimizers.joint.optimizer", "Joint"),
    "meta_prompt": ("burnish.optimizers.meta_prompt", "MetaPrompt"),
    "parameters": ("burnish.optimizers.parameters.optimizer", "Parameters"),
    "random": ("burnish.optimizers.random_search", "RandomSearch"),
}
_METHODS = ("initialize", "propose", "observe", "should_stop")


def list_optimizers() -> list[str]:
    """Names that `build_optimizer` knows, in alphabetical order."""
    return sorted({*_BUILT_IN, *SEAM.installed()})


def build_optimizer(name: str, settings: Mapping[str, Any]) -> Optimizer:
    """An optimizer by its name, with its settings checked against what its constructor takes.

    A built-in one wins over another package's of the same name.
    """
    make = optimizer_maker(name)
    check_settings("optimizer", name, make, settings)
    optimizer: Optimizer = make_with("optimizer", name, make, settings)
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
    registered: Callable[..., Optimizer] | None = SEAM.load(name)
    if registered is not None:
        return registered
    raise UsageError(
        what=f"there is no optimizer {name!r}",
        why="it is neither built in nor registered by an installed package",
        fix=nearest(str(name), list_optimizers()),
        code="unknown_optimizer",
    )
