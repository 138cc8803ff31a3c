"""Items that only wait: how close to the ideal time. Prints JSON."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

import burnish
from burnish.evaluation.runner import ExperimentRunner


async def wait(configuration: dict, item: dict) -> str:
    await asyncio.sleep(0.05)
    return item["label"]


def time_the_items() -> list[float]:
    """Seconds from the first item's start until the last result is saved, for each evaluation."""
    seconds: list[float] = []
    evaluate = ExperimentRunner.evaluate

    async def timed(*arguments: Any, **options: Any) -> None:
        started = time.perf_counter()
        await evaluate(*arguments, **options)
        seconds.append(time.perf_counter() - started)

    ExperimentRunner.evaluate = timed  # type: ignore[method-assign]
    return seconds


def main() -> None:
    items, concurrency = int(sys.argv[1]), int(sys.argv[2])
    rows = [{"n": n, "label": "yes"} for n in range(items)]
    agent = burnish.Agent(
        name="waiting",
        configuration={"sections": {"system": "-"}},
        run=wait,
        concurrency=concurrency,
    )
    scorers = [{"kind": "exact_match", "field": "label"}]
    burnish.evaluate(agent, burnish.Suite(dataset=rows[:10], scorers=scorers), db="run.db")
    spans = time_the_items()
    started = time.perf_counter()
    result = burnish.evaluate(agent, burnish.Suite(dataset=rows, scorers=scorers), db="run.db")
    seconds = time.perf_counter() - started
    assert result.items == items
    print(json.dumps({"items_seconds": spans[0], "call_seconds": seconds}))


main()
