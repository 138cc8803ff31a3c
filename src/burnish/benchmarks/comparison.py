"""All optimizers in all worlds: planned, run side by side in processes, and collected."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from burnish.benchmarks.batches import Batch, end_batches, run_batch
from burnish.benchmarks.contestants import Contestant
from burnish.benchmarks.curves import Curve
from burnish.domain import UnavailableError

Notice = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is compared. Every optimizer meets every world with every seed and every budget.

    `most` is the largest budget of contestants that are too slow for the larger ones.
    """

    worlds: Sequence[str]
    contestants: Sequence[Contestant]
    seeds: Sequence[int]
    budgets: Sequence[int]
    processes: int = 2
    most: Mapping[str, int] = field(default_factory=dict)


@dataclass(kw_only=True)
class Outcome:
    """The curves that came of it, and in words what did not."""

    curves: list[Curve] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


def compare(
    plan: Plan,
    *,
    notice: Notice = lambda _: None,
    keep: Callable[[Curve], None] = lambda _: None,
    known: Sequence[Curve] = (),
) -> Outcome:
    """Run the plan. What fails is noted, and everything else still runs.

    `keep` gets each curve as soon as it is there; what is `known` is not run again.
    """
    outcome, lock = Outcome(), threading.Lock()
    ready, missing = _prepared(plan.contestants, notice)
    outcome.failures += missing
    batches = _batches(plan, ready, {_place(one) for one in known})
    left = [sum(len(batch.jobs) for batch in batches)]

    def take(answer: dict[str, Any]) -> None:
        with lock:
            left[0] -= 1
            name = f"{answer['optimizer']} in {answer['world']}, seed {answer['seed']}"
            if "error" in answer:
                outcome.failures.append(f"{name}, budget {answer['budget']}: {answer['error']}")
            else:
                outcome.curves.append(Curve.of(answer))
                keep(outcome.curves[-1])
            notice(f"{name}: {'failed' if 'error' in answer else 'done'}, {left[0]} to go")

    def work(batch: Batch) -> None:
        if failed := run_batch(ready[batch.contestant.name], batch, take):
            with lock:
                outcome.failures.append(f"{batch.contestant.name}: {failed}")

    with ThreadPoolExecutor(plan.processes) as pool:
        try:
            list(pool.map(work, batches))
        except BaseException:
            # Interrupted: nothing more starts, and what runs is ended.
            pool.shutdown(wait=False, cancel_futures=True)
            end_batches()
            raise
    outcome.curves += known
    outcome.curves.sort(key=lambda one: (one.world, one.budget, one.optimizer, one.seed))
    return outcome


def _prepared(
    wanted: Sequence[Contestant], notice: Notice
) -> tuple[dict[str, list[str]], list[str]]:
    """Commands of the contestants that can run, and why the others cannot."""
    ready: dict[str, list[str]] = {}
    missing: list[str] = []
    for contestant in wanted:
        if contestant.environment is not None:
            notice(f"{contestant.name}: looking for its environment")
        try:
            ready[contestant.name] = contestant.command()
        except UnavailableError as error:
            missing.append(f"{contestant.name} did not run: {error.what}: {error.why}. {error.fix}")
    return ready, missing


def _place(curve: Curve) -> tuple[str, str, int, int]:
    return curve.optimizer, curve.world, curve.seed, curve.budget


def _batches(
    plan: Plan, ready: dict[str, list[str]], known: set[tuple[str, str, int, int]]
) -> list[Batch]:
    """The dearest first, so that no long batch is left alone at the end."""
    found = [
        Batch(
            contestant=contestant,
            jobs=[
                {
                    "optimizer": contestant.name,
                    "world": world,
                    "seed": seed,
                    "budget": budget,
                    "settings": dict(contestant.settings),
                }
                for seed in plan.seeds
                if (contestant.name, world, seed, budget) not in known
            ],
        )
        for budget in sorted(plan.budgets, reverse=True)
        for contestant in reversed(list(plan.contestants))
        for world in plan.worlds
        if contestant.name in ready and budget <= plan.most.get(contestant.name, budget)
    ]
    return [batch for batch in found if batch.jobs]
