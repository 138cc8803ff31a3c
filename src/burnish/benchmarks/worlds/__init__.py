"""Simulated worlds for optimizers, of the standard library only.

They load without Burnish too: another environment adds this folder's parent to `sys.path` and imports
`worlds`, or loads it by path, so every optimizer is measured in the very same worlds.

    world = make_world("rules", 1000)
    output = world.answer(world.sections, world.train[0])
    score, feedback = world.score(output, world.train[0])
    world.expectation(world.sections), world.maximum, world.calls
"""

from __future__ import annotations

from typing import Any

from .attention import Attention
from .components import Components
from .deceptive import Deceptive
from .mixtures import MIXTURES
from .rules import Memoriser, Noisy, Rules, WeakReflector
from .tools import ToolWorld
from .world import World

WORLDS: dict[str, type[World]] = {
    world.name: world
    for world in (Rules, WeakReflector, Attention, Memoriser, Deceptive, Components, Noisy)
}

TOOL_WORLDS: dict[str, Any] = {ToolWorld.name: ToolWorld}

TUNING_SEEDS = range(100)
"""For work on optimizers; never reported."""
FIRST_REPORTED_SEED = 4_000
"""Results are reported on seeds from here up, which nobody tunes on."""


def make_world(name: str, seed: int, *, latency_seconds: float = 0.0) -> World:
    """A world by its name; a mixture's seed moves its luck only."""
    made: Any = WORLDS.get(name) or MIXTURES.get(name) or TOOL_WORLDS.get(name)
    if made is None:
        names = ", ".join((*WORLDS, *MIXTURES, *TOOL_WORLDS))
        raise ValueError(f"there is no world {name!r}; use one of {names}")
    world: World = made(seed, latency_seconds=latency_seconds)
    return world


__all__ = [
    "FIRST_REPORTED_SEED",
    "MIXTURES",
    "TOOL_WORLDS",
    "TUNING_SEEDS",
    "WORLDS",
    "World",
    "make_world",
]
