"""What an optimization costs an item when the agent costs nothing. Prints JSON."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
from collections import Counter

import burnish
from bench.counting_optimizer import BASELINE, Counting
from burnish.app.optimize.optimizations import Optimization
from burnish.app.wiring import Workspace
from burnish.config.search import SearchSpec

CANDIDATES = 4


async def instant(configuration: dict, item: dict) -> str:
    return item["label"]


async def optimize(trials: int, items: int, database: str) -> tuple[int, Counter[str]]:
    """What `burnish.optimize` does, and the CPU seconds of each kind of thread at its end."""
    rows = [{"question": f"What is {n} plus {n}?", "label": str(2 * n)} for n in range(items)]
    agent = burnish.Agent(
        name="instant", configuration={"sections": {"system": BASELINE}}, run=instant
    )
    suite = burnish.Suite(dataset=rows, scorers=[{"kind": "exact_match", "field": "label"}])
    search = SearchSpec(optimizer=Counting(), seed=0, candidates_per_step=CANDIDATES)
    async with Workspace.open(database) as workspace:
        optimization = Optimization(
            workspace, agent, suite, search, burnish.Budget(max_trials=trials)
        )
        identity = await optimization.create()
        result = await optimization.run(identity)
        by_thread = thread_seconds()
        await optimization.close()
    assert len(result.trials) == trials + 1, len(result.trials)
    evaluations = result.to_json()["evaluations"]
    assert evaluations == (trials + 1) * items, evaluations
    return evaluations, by_thread


def thread_seconds() -> Counter[str]:
    """CPU seconds of the threads that are alive, by what they do."""
    seconds: Counter[str] = Counter()
    for thread in threading.enumerate():
        kind = "storage" if "sqlite" in thread.name else "event loop"
        assert thread.ident is not None
        seconds[kind] += time.clock_gettime(time.pthread_getcpuclockid(thread.ident))
    return seconds


def cpu_seconds() -> float:
    """Of this process, all of its threads and the children it has waited for."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def main() -> None:
    trials, items = int(sys.argv[1]), int(sys.argv[2])
    asyncio.run(optimize(CANDIDATES, items, "warm-up.db"))
    before = thread_seconds()
    cpu, started = cpu_seconds(), time.perf_counter()
    evaluations, by_thread = asyncio.run(optimize(trials, items, "run.db"))
    wall, spent = time.perf_counter() - started, cpu_seconds() - cpu
    by_thread.subtract(before)
    print(
        json.dumps(
            {
                "evaluations": evaluations,
                "cpu_seconds": spent,
                "wall_seconds": wall,
                "threads": dict(by_thread),
                "load": os.getloadavg()[0],
            }
        )
    )


main()
