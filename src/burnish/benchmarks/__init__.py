"""Benchmarks that ship with Burnish: simulated worlds, runners for optimizers, and their tables.

One world from Python, without the command line:

    from burnish.benchmarks import make_world, run_burnish

    world = make_world("rules", 7)                  # seeds 0 to 99 are for tuning
    curve = run_burnish(world, "gepa", budget=700, seed=7)
    curve.final, curve.share, curve.calls_to(0.9), curve.reflections, curve.points

`optimizer` is a name of the catalog, which gets `model=world.reflect` if it takes a model, or an
Optimizer. `burnish bench optimizers` runs all of them over all worlds.
"""

from __future__ import annotations

from burnish.benchmarks.burnish_runner import run_burnish
from burnish.benchmarks.curves import Curve, Point
from burnish.benchmarks.worlds import WORLDS, World, make_world

__all__ = ["WORLDS", "Curve", "Point", "World", "make_world", "run_burnish"]
