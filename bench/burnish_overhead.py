"""What Burnish itself costs an item: an instant agent, one scorer, storage on. Prints JSON."""

from __future__ import annotations

import json
import sys
import time

import burnish


async def instant(configuration: dict, item: dict) -> str:
    return item["label"]


def evaluate(rows: list[dict], database: str) -> float:
    agent = burnish.Agent(
        name="instant", configuration={"sections": {"system": "-"}}, run=instant, concurrency=16
    )
    suite = burnish.Suite(dataset=rows, scorers=[{"kind": "exact_match", "field": "label"}])
    started = time.perf_counter()
    result = burnish.evaluate(agent, suite, db=database)
    seconds = time.perf_counter() - started
    assert (result.score, result.items, result.summary.cached) == (1.0, len(rows), 0)
    return seconds


def main() -> None:
    items, repeats = int(sys.argv[1]), int(sys.argv[2])
    rows = [{"question": f"What is {n} plus {n}?", "label": str(2 * n)} for n in range(items)]
    evaluate(rows[:10], "warm-up.db")
    seconds = [evaluate(rows, f"run-{number}.db") for number in range(repeats)]
    print(json.dumps({"items": items, "seconds": seconds}))


main()
