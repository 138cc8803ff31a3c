"""Burnish's own optimizers in a world, through the public API."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import burnish
from burnish.benchmarks.curves import Curve, Point
from burnish.benchmarks.worlds import World
from burnish.domain import InvariantError, Optimizer, UsageError, optimizer_name
from burnish.optimizers.catalog import build_optimizer


def run_burnish(
    world: World,
    optimizer: str | Optimizer,
    budget: int,
    seed: int,
    settings: Mapping[str, Any] | None = None,
) -> Curve:
    """Optimize the world's baseline in a database of its own, and see what came when.

    A named optimizer that takes a `model` gets the world's reflection model.
    """
    made = build_for(world, optimizer, settings or {}) if isinstance(optimizer, str) else optimizer

    async def run(configuration: Mapping[str, Any], item: Mapping[str, Any]) -> str:
        return await world.answer_async(configuration["sections"], item)

    def score(output: burnish.AgentOutput, item: Mapping[str, Any]) -> burnish.Score:
        value, reason = world.score(str(output), item)
        return burnish.Score(value=value, reason=reason)

    agent = burnish.Agent(
        name=world.name,
        configuration={"sections": world.sections},
        run=run,
        version=f"{world.name}:{world.seed}",
    )
    scorer = {"kind": "python", "function": score, "fields": ["expected"]}
    rows = [*world.train, *world.validation]
    suite = burnish.Suite(dataset=rows, scorers=[scorer], split="field")
    calls_before, reflections_before = world.calls, world.reflections
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="burnish-bench-") as folder:
        result = burnish.optimize(
            agent=agent,
            suite=suite,
            optimizer=made,
            budget=burnish.Budget(max_evaluations=budget),
            seed=seed,
            db=Path(folder) / "bench.db",
            progress=False,
        )
    calls = world.calls - calls_before
    _check(calls, result.evaluations, budget)
    return Curve(
        world=world.name,
        optimizer=optimizer if isinstance(optimizer, str) else optimizer_name(optimizer),
        seed=seed,
        budget=budget,
        start=world.start,
        maximum=world.maximum,
        calls=calls,
        reflections=world.reflections - reflections_before,
        seconds=time.perf_counter() - started,
        points=_points(world, result, calls),
        note=result.stop_reason or "",
        best_tried=world.best_tried,
        best_trial=max(
            world.expectation(result.candidates[trial.candidate_id].configuration.sections)
            for trial in result.trials
            if trial.counts
        ),
    )


def build_for(world: World, name: str, settings: Mapping[str, Any]) -> Optimizer:
    """An optimizer of the catalog, with the world's reflection model if it takes one."""
    if "model" in settings:
        return build_optimizer(name, settings)
    try:
        return build_optimizer(name, {**settings, "model": world.reflect})
    except UsageError as error:
        if error.code != "unknown_setting":
            raise
        return build_optimizer(name, settings)


def _points(world: World, result: burnish.OptimizationResult, calls: int) -> list[Point]:
    """A point at each new best, and the result itself if it is another."""
    steps = [(step.evaluations, step.best_candidate_id) for step in result.progress]
    if not steps or steps[-1][1] != result.best.candidate_id:
        steps.append((calls, result.best.candidate_id))
    return [
        Point(
            calls=evaluations,
            expectation=world.expectation(result.candidates[candidate].configuration.sections),
        )
        for evaluations, candidate in steps
    ]


def _check(calls: int, evaluations: int, budget: int) -> None:
    if calls != evaluations or calls > budget:
        raise InvariantError(
            what="the count of evaluations cannot be trusted",
            why=f"the world was called {calls} times, Burnish counted {evaluations} of {budget}",
            fix="report it with the command that was run",
        )
