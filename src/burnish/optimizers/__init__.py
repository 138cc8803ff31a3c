"""What to try next: one algorithm a file, shared parts beside them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from burnish.optimizers.catalog import build_optimizer, list_optimizers
    from burnish.optimizers.edits import Edits
    from burnish.optimizers.few_shot import FewShot
    from burnish.optimizers.grid_search import GridSearch
    from burnish.optimizers.random_search import RandomSearch

# Loaded on first use, so that asking for one algorithm loads no other.
_HOMES = {
    "Edits": "burnish.optimizers.edits",
    "FewShot": "burnish.optimizers.few_shot",
    "GridSearch": "burnish.optimizers.grid_search",
    "RandomSearch": "burnish.optimizers.random_search",
    "build_optimizer": "burnish.optimizers.catalog",
    "list_optimizers": "burnish.optimizers.catalog",
}

__all__ = [
    "Edits",
    "FewShot",
    "GridSearch",
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
