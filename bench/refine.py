"""200 items with 3 rounds of 50 ms calls on a pool of 100: the ideal is 0.8 s."""

from __future__ import annotations

import os
from statistics import median

from bench.processes import measure
from bench.results import Section

ITEMS, ROUNDS, POOL, WAIT = 200, 3, 100, 0.05
MANY_ROUNDS = 30
RUNS = 5
GOAL = 1.3


def run() -> Section:
    """Several processes; the median and the worst against the ideal, and memory by rounds."""
    load = os.getloadavg()[0]
    answers = [measure("bench.burnish_refine", ITEMS, ROUNDS, POOL, WAIT) for _ in range(RUNS)]
    # The agent's call and its verdict, then a call and a verdict for each round.
    ideal = ITEMS / POOL * (2 + 2 * ROUNDS) * WAIT
    rows: list[list[object]] = [["ideal", f"{ideal:.3f}", "1.00", ""]]
    for key, what in (
        ("items_seconds", "the items, until the last round and result is saved"),
        ("call_seconds", "the whole call: rows checked and stored, statistics"),
        ("cpu_seconds", "CPU time of the whole call, which other programs do not add to"),
    ):
        seconds = [answer[key] for answer in answers]
        middle, worst = median(seconds), max(seconds)
        rows.append([what, f"{middle:.3f}", f"{middle / ideal:.2f}", f"{worst / ideal:.2f}"])
    peaks = {
        rounds: measure("bench.burnish_refine", ITEMS, rounds, POOL, 0.0)["peak_mb"]
        for rounds in (ROUNDS, MANY_ROUNDS)
    }
    return Section(
        name="refine",
        title="Refine: 200 items with 3 rounds of 50 ms calls, pool of 100",
        command="python -m bench refine",
        columns=["", f"seconds (median of {RUNS})", "times the ideal", f"worst of {RUNS}"],
        rows=rows,
        notes=[
            f"The goal is at most {GOAL} times the ideal for the items. Each of the 1,600 calls is "
            "looked up and kept in the cache of calls, and each of the 800 rounds is saved, both on "
            "SQLite.",
            f"Peak memory of the process: {peaks[ROUNDS]:.0f} MB with {ROUNDS} rounds an item, "
            f"{peaks[MANY_ROUNDS]:.0f} MB with {MANY_ROUNDS}.",
            f"Load average before: {load:.1f} on {os.cpu_count()} cores.",
        ],
    )
