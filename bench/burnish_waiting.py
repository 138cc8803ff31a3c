"""Items that only wait: how close to the ideal time. Prints JSON."""

from __future__ import annotations

import asyncio
import json
import sys
import time

import burnish


async def wait(configuration: dict, item: dict) -> str:
    await asyncio.sleep(0.05)
    return item["label"]


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
    started = time.perf_counter()
    result = burnish.evaluate(agent, burnish.Suite(dataset=rows, scorers=scorers), db="run.db")
    seconds = time.perf_counter() - started
    assert result.items == items
    print(json.dumps({"seconds": seconds}))


main()
