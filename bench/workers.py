"""100 ms evaluations on 4 `burnish worker` processes against 1, over a real Valkey."""

from __future__ import annotations

import os
from statistics import median
from typing import Any

from bench.processes import measure
from bench.results import Section

ITEMS, WAIT, CONCURRENCY, ROUNDS = 1280, 0.1, 8, 1
COUNTS = (1, 4)
GOAL = 3.7


def run() -> Section:
    """Both in turn, several rounds; each round its own processes and database."""
    rounds: list[dict[str, float]] = []
    loads = []
    for _ in range(ROUNDS):
        loads.append(os.getloadavg()[0])
        answer = measure(
            "bench.burnish_workers",
            ITEMS,
            *("--wait", WAIT, "--concurrency", CONCURRENCY, "--workers", *COUNTS),
        )
        rounds.append(answer["seconds"])
    one, four = (median(each[str(count)] for each in rounds) for count in COUNTS)
    rows: list[list[Any]] = [
        _row(count, median(each[str(count)] for each in rounds), one) for count in COUNTS
    ]
    return Section(
        name="workers",
        title="Workers: evaluations of 100 ms on 4 workers against 1",
        command="python -m bench workers",
        columns=[
            "workers",
            f"seconds for {ITEMS} evaluations",
            "evaluations a second",
            "of what the waiting alone allows",
            "times 1 worker",
        ],
        rows=rows,
        notes=[
            f"The goal is at least {GOAL} times one worker's rate; measured {one / four:.2f}.",
            f"Real `burnish worker --concurrency {CONCURRENCY}` processes, a Valkey server and a "
            "SQLite database on this machine; results are in the database when the clock stops. "
            "The time is that of a whole run: lease, shards, results read back, final record.",
            f"Load average before the rounds: {min(loads):.1f} to {max(loads):.1f} on "
            f"{os.cpu_count()} cores.",
        ],
    )


def _row(count: int, seconds: float, one: float) -> list[Any]:
    rate = ITEMS / seconds
    most = count * CONCURRENCY / WAIT
    return [count, f"{seconds:.2f}", f"{rate:.0f}", f"{rate / most:.0%}", f"{one / seconds:.2f}"]
