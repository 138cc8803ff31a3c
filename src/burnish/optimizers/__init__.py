"""What to try next: one algorithm a file, shared parts beside them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from burnish.optimizers.auto import Auto
    from burnish.optimizers.bootstrap import Bootstrap
    from burnish.optimizers.catalog import build_optimizer, list_optimizers
    from burnish.optimizers.compress import Compress
    from burnish.optimizers.compress_edits import CompressStrategy
    from burnish.optimizers.compress_mechanical import MechanicalCompressStrategy
    from burnish.optimizers.compress_model import LLMCompressStrategy
    from burnish.optimizers.edits import Edits
    from burnish.optimizers.evolve import Evolve
    from burnish.optimizers.few_shot import FewShot
    from burnish.optimizers.gepa import Gepa
    from burnish.optimizers.gepa_reference import GepaReference
    from burnish.optimizers.grid_search import GridSearch
    from burnish.optimizers.meta_prompt import MetaPrompt
    from burnish.optimizers.parameters import Parameters
    from burnish.optimizers.random_search import RandomSearch

# Loaded on first use, so that asking for one algorithm loads no other.
_HOMES = {
    "Auto": "burnish.optimizers.auto",
    "Bootstrap": "burnish.optimizers.bootstrap",
    "Compress": "burnish.optimizers.compress",
    "CompressStrategy": "burnish.optimizers.compress_edits",
    "Edits": "burnish.optimizers.edits",
    "Evolve": "burnish.optimizers.evolve",
    "FewShot": "burnish.optimizers.few_shot",
    "Gepa": "burnish.optimizers.gepa",
    "GepaReference": "burnish.optimizers.gepa_reference",
    "GridSearch": "burnish.optimizers.grid_search",
    "LLMCompressStrategy": "burnish.optimizers.compress_model",
    "MechanicalCompressStrategy": "burnish.optimizers.compress_mechanical",
    "MetaPrompt": "burnish.optimizers.meta_prompt",
    "Parameters": "burnish.optimizers.parameters",
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
