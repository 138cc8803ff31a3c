"""Mixture worlds: properties of tasks, task models and reflectors, mixed at random and then frozen."""

from __future__ import annotations

from ..world import World
from .spec import SETS, Habits, Spec, draw_spec
from .world import Mixture, world_class

MIXTURES: dict[str, type[World]] = {
    spec.name: world_class(spec) for specs in SETS.values() for spec in specs
}
"""The frozen worlds by name."""

__all__ = ["MIXTURES", "SETS", "Habits", "Mixture", "Spec", "draw_spec", "world_class"]
