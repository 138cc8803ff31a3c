"""How much the process grows over 100,000 items from a file."""

from __future__ import annotations

from bench.processes import measure
from bench.results import Section

ITEMS = 100_000


def run() -> Section:
    """One process: 100 items to load everything, then the large file."""
    answer = measure("bench.burnish_memory", ITEMS, timeout=900)
    grown = (answer["peak"] - answer["before"]) / 1e6
    return Section(
        name="memory",
        title="Memory: 100,000 items from JSONL",
        command="python -m bench memory",
        columns=["", "MB"],
        rows=[
            ["after a run of 100 items", f"{answer['before'] / 1e6:.0f}"],
            ["peak over 100,000 items", f"{answer['peak'] / 1e6:.0f}"],
            ["grown by", f"{grown:.0f}"],
        ],
    )
