"""2,000 items of 50 ms at concurrency 200: the ideal is half a second."""

from __future__ import annotations

from statistics import median

from bench.processes import measure
from bench.results import Section

ITEMS, CONCURRENCY, WAIT = 2000, 200, 0.05


def run() -> Section:
    """Several processes; the median against the ideal."""
    seconds = [measure("bench.burnish_waiting", ITEMS, CONCURRENCY)["seconds"] for _ in range(5)]
    ideal = ITEMS / CONCURRENCY * WAIT
    return Section(
        name="waiting",
        title="Waiting: 2,000 items of 50 ms at concurrency 200",
        command="python -m bench waiting",
        columns=["", "seconds", "times the ideal"],
        rows=[
            ["ideal", ideal, 1.0],
            ["burnish, median of 5", f"{median(seconds):.3f}", f"{median(seconds) / ideal:.2f}"],
            ["burnish, worst of 5", f"{max(seconds):.3f}", f"{max(seconds) / ideal:.2f}"],
        ],
        notes=["Timed around the whole call, storage included."],
    )
