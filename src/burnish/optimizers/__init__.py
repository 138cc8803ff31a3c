"""Optimizers: a folder or a file an algorithm, shared parts beside them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from burnish.optimizers.auto.optimizer import Auto
    from burnish.optimizers.catalog import build_optimizer, list_optimizers
    from burnish.optimizers.compress.optimizer import Compress
    from burnish.optimizers.compress.strategies import (
        CompressStrategy,
        LLMCompressStrategy,
        MechanicalCompressStrategy,
    )
    from burnish.optimizers.edits.optimizer import Edits
    from burnish.optimizers.evolve.optimizer import Evolve
    from burnish.optimizers.examples.bootstrap import Bootstrap
    from burnish.optimizers.examples.few_shot import FewShot
    from burnish.optimizers.gepa.optimizer import Gepa
    from burnish.optimizers.gepa_package.optimizer import GepaReference
    from burnish.optimizers.joint.optimizer import Joint
    from burnish.optimizers.meta_prompt import MetaPrompt
    from burnish.optimizers.parameters.grid_search import GridSearch
    from burnish.optimizers.parameters.optimizer import Parameters
    from burnish.optimizers.random_search import RandomSearch

# Loaded on first use, so that asking for one algorithm loads no other.
_HOMES = {
    "Auto": "burnish.optimizers.auto.optimizer",
    "Bootstrap": "burnish.optimizers.examples.bootstrap",
    "Compress": "burnish.optimizers.compress.optimizer",
    "CompressStrategy": "burnish.optimizers.compress.strategies",
    "Edits": "burnish.optimizers.edits.optimizer",
    "Evolve": "burnish.optimizers.evolve.optimizer",
    "FewShot": "burnish.optimizers.examples.few_shot",
    "Gepa": "burnish.optimizers.gepa.optimizer",
    "GepaReference": "burnish.optimizers.gepa_package.optimizer",
    "GridSearch": "burnish.optimizers.parameters.grid_search",
    "Joint": "burnish.optimizers.joint.optimizer",
    "LLMCompressStrategy": "burnish.optimizers.compress.strategies",
    "MechanicalCompressStrategy": "burnish.optimizers.compress.strategies",
    "MetaPrompt": "burnish.optimizers.meta_prompt",
    "Parameters": "burnish.optimizers.parameters.optimizer",
    "RandomSearch": "burnish.optimizers.random_search",
    "build_optimizer": "burnish.optimizers.catalog",
    "list_optimizers": "burnish.optimizers.catalog",
}

__all__ = [
    "Auto",
    "Bootstrap",
    "Compress",
    "CompressStrategy",
    "Edits",
    "Evolve",
    "FewShot",
    "Gepa",
    "GepaReference",
    "GridSearch",
    "Joint",
    "LLMCompressStrategy",
    "MechanicalCompressStrategy",
    "MetaPrompt",
    "Parameters",
    "RandomSearch",
    "build_optimizer",
    "list_optimizers",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'burnish.optimizers' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
