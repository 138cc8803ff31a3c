"""2,000 items of 50 ms at concurrency 200: the ideal is half a second."""

from __future__ import annotations

from statistics import median

from bench.processes import measure
from bench.results import Section

ITEMS, CONCURRENCY, WAIT = 2000, 200, 0.05


def run() -> Section:
    """Several processes; the median and the worst against the ideal."""
    answers = [measure("bench.burnish_waiting", ITEMS, CONCURRENCY) for _ in range(5)]
    ideal = ITEMS / CONCURRENCY * WAIT
    rows: list[list[object]] = [["ideal", f"{ideal:.3f}", "1.00", ""]]
    for key, what in (
        ("items_seconds", "the items, until the last result is saved"),
        ("call_seconds", "the whole call: rows checked and stored, statistics"),
    ):
        seconds = [answer[key] for answer in answers]
        middle, worst = median(seconds), max(seconds)
        rows.append([what, f"{middle:.3f}", f"{middle / ideal:.2f}", f"{worst / ideal:.2f}"])
    return Section(
        name="waiting",
        title="Waiting: 2,000 items of 50 ms at concurrency 200",
        command="python -m bench waiting",
        columns=["", "seconds (median of 5)", "times the ideal", "worst of 5"],
        rows=rows,
    )
