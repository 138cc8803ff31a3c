"""Table of all runs on real tasks, means over them with intervals, and what that says in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from burnish.evaluation.statistics import Interval, bootstrap_interval

Run = Mapping[str, Any]
_COLUMNS = (
    *("task", "seed", "contestant", "before", "after", "gain, 95% interval"),
    *("test", "calls made", "asked", "usable", "seconds"),
)


def report(runs: Sequence[Run], contestants: Sequence[str]) -> None:
    """Print a line a run, a line a contestant, and the verdicts."""
    for line in lines(runs, contestants):
        print(line)


def lines(runs: Sequence[Run], contestants: Sequence[str]) -> list[str]:
    """Tables as Markdown."""
    ordered = sorted(
        runs, key=lambda one: (one["task"], one["seed"], contestants.index(one["contestant"]))
    )
    found = [
        "accuracy on held-out rows: before with the task's first prompt, after with the winner; "
        "`usable` are reflections that gave a new text",
        "",
        *_table(_COLUMNS, [_cells(one) for one in ordered]),
        "",
    ]
    means = [(name, _gains(runs, name)) for name in contestants]
    rows = [[name, len(gains), _with_interval(gains)] for name, gains in means if gains]
    found += [*_table(("contestant", "runs", "mean gain, 95% interval over runs"), rows), ""]
    found += [compared(runs, contestants[0], other) for other in contestants[1:]]
    return [*found, *_verdicts([(name, gains) for name, gains in means if gains])]


def mean_interval(values: Sequence[float]) -> tuple[float, Interval]:
    """The mean over runs, and where it lies by their spread."""
    return sum(values) / len(values), bootstrap_interval(values, seed=0)


def _gains(runs: Sequence[Run], contestant: str) -> list[float]:
    return [one["gain"] for one in runs if one["contestant"] == contestant]


def _cells(run: Run) -> list[Any]:
    return [
        run["task"],
        run["seed"],
        run["contestant"],
        f"{run['before']:.3f}",
        f"{run['after']:.3f}",
        f"{run['gain']:+.3f} ({run['low']:+.3f} to {run['high']:+.3f})",
        run["items"][-1],
        run.get("made", ""),
        run["asked"],
        run["usable"],
        round(run["seconds"]),
    ]


def _with_interval(values: Sequence[float]) -> str:
    mean, interval = mean_interval(values)
    return f"{mean:+.4f} ({interval.low:+.4f} to {interval.high:+.4f})"


def compared(runs: Sequence[Run], one: str, other: str) -> str:
    """Pairs of one task and seed."""
    places: dict[tuple[str, int], dict[str, float]] = {}
    for run in runs:
        places.setdefault((run["task"], run["seed"]), {})[run["contestant"]] = run["gain"]
    pairs = [
        gains[one] - gains[other] for gains in places.values() if one in gains and other in gains
    ]
    if not pairs:
        return f"{one} and {other} have no runs in common yet."
    return f"{one} less {other}, in {len(pairs)} pairs of runs: {_with_interval(pairs)}."


def _verdicts(means: Sequence[tuple[str, Sequence[float]]]) -> list[str]:
    better = [name for name, gains in means if mean_interval(gains)[1].low > 0]
    if not means:
        return ["No run is finished yet."]
    if not better:
        return [
            "Nothing improves: no contestant's mean gain is above 0 beyond the spread of its runs."
        ]
    return [f"Better than the first prompts beyond the spread of its runs: {', '.join(better)}."]


def _table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    heads = ["| " + " | ".join(columns) + " |", "| " + " | ".join("---" for _ in columns) + " |"]
    return heads + ["| " + " | ".join(map(str, row)) + " |" for row in rows]
