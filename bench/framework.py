"""CPU that an optimization costs an item: 200 trials of 50 items, instant agent, storage on."""

from __future__ import annotations

import os
from statistics import median

from bench.processes import measure
from bench.results import Section

TRIALS, ITEMS, ROUNDS = 200, 50, 5
GOAL_MS = 0.4


def run() -> Section:
    """Several processes; medians, and the best round as the least disturbed one."""
    answers = [measure("bench.burnish_framework", TRIALS, ITEMS) for _ in range(ROUNDS)]
    evaluations = answers[0]["evaluations"]
    cpu = [answer["cpu_seconds"] / evaluations * 1000 for answer in answers]
    wall = [answer["wall_seconds"] for answer in answers]
    loads = [answer["load"] for answer in answers]
    shares = {
        kind: median(answer["threads"][kind] / evaluations * 1000 for answer in answers)
        for kind in answers[0]["threads"]
    }
    return Section(
        name="framework",
        title="Framework: 200 trials of 50 items, instant agent, storage and events on",
        command="python -m bench framework",
        columns=["", f"median of {ROUNDS}", "best", "worst"],
        rows=[
            ["CPU, ms an evaluation", *_spread(cpu, 3)],
            ["wall, s", *_spread(wall, 2)],
            ["evaluations/s", *(round(evaluations / one) for one in _ordered(wall))],
        ],
        notes=[
            f"The goal is at most {GOAL_MS} ms. {evaluations:,} evaluations: the baseline and "
            f"{TRIALS} trials, 4 candidates a step, in a new SQLite file; process time of all "
            "threads and children over the whole call.",
            "Where it goes, ms an evaluation (medians): "
            + ", ".join(f"{kind} {share:.3f}" for kind, share in sorted(shares.items()))
            + ".",
            f"Load average over the rounds: {min(loads):.1f} to {max(loads):.1f} on "
            f"{os.cpu_count()} cores; a busy neighbour also raises CPU time.",
        ],
    )


def _ordered(values: list[float]) -> tuple[float, float, float]:
    return median(values), min(values), max(values)


def _spread(values: list[float], digits: int) -> list[str]:
    return [f"{one:.{digits}f}" for one in _ordered(values)]
