"""What label probabilities save: evaluations of `joint` to the same held-out gain, with and without.

Both searches run with several budgets; an arm's gain between two budgets is taken from the line
through them. The goal of a task is the lower of the two arms' best mean gains, so that both reach it;
where that is no gain, nothing can be said of the task, and the table says so.

    python -m bench soft --data DIR --tasks banking77_eight,clinc_eleven,bbh_hyperbaton
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from bench.real import command
from bench.real.job import HARD
from bench.real.runs import COMMITTED, KEPT, finished, publish, read_runs
from bench.results import Section, save

TASKS = "banking77_eight,clinc_eleven,bbh_hyperbaton"
_ARMS = ("joint", f"joint{HARD}")
Gains = Mapping[int, float]


def main(arguments: Sequence[str]) -> None:
    """Run what is missing, print the table, and write its section."""
    options = parse(arguments)
    budgets = sorted(map(int, options.budgets.split(",")))
    done: list[dict[str, Any]] = []
    for budget in budgets:
        jobs = command.plan(command.parse(_real(options, budget)))
        found, missing = finished(jobs, read_runs(COMMITTED, KEPT))
        done += found if options.show else [*found, *command.run_all(missing, 1)]
    made = section(done, options.tasks.split(","), budgets)
    print("\t".join(made.columns))
    for row in made.rows:
        print("\t".join(map(str, row)))
    if not options.show:
        publish()
        save(made)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench soft", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of tasks")
    parser.add_argument("--tasks", default=TASKS)
    parser.add_argument("--seeds", default="1", help="how many from 0 up, or FIRST-LAST")
    parser.add_argument("--budgets", default="250,500,1000", help="evaluations of a search")
    parser.add_argument("--show", action="store_true", help="run nothing, print what is finished")
    return parser.parse_args(arguments)


def _real(options: argparse.Namespace, budget: int) -> list[str]:
    told = {"data": options.data, "tasks": options.tasks, "seeds": options.seeds}
    told |= {"evaluations": budget, "contestants": ",".join(_ARMS)}
    return [part for name, value in told.items() for part in (f"--{name}", str(value))]


def section(
    runs: Sequence[Mapping[str, Any]], tasks: Sequence[str], budgets: Sequence[int]
) -> Section:
    """A line a task: mean gains at each budget, and evaluations to the common goal."""
    rows = []
    for task in tasks:
        arms = [_mean_gains(runs, task, arm) for arm in _ARMS]
        goal, reached = evaluations_to_goal(*arms)
        cells = [_told(gains, budgets) for gains in arms]
        rows.append([task, *cells, "" if goal is None else f"{goal:+.3f}", *_counts(reached)])
    return Section(
        name="real-soft",
        title="Label probabilities in the search: evaluations to the same held-out gain",
        command="python -m bench soft --data DIR",
        columns=[
            "task",
            f"gain with them after {_words(budgets)}",
            f"gain without after {_words(budgets)}",
            *("goal", "evaluations with", "without", "ratio"),
        ],
        rows=rows,
        notes=[
            "`joint` on SmolLM2-135M, with `soft_scores` on and off; gains on held-out rows, means "
            "over seeds. The goal is the lower of the two arms' best gains.",
        ],
    )


def evaluations_to_goal(soft: Gains, hard: Gains) -> tuple[float | None, tuple[float, ...]]:
    """The gain that both arms reached, and after how many evaluations each."""
    if not soft or not hard:
        return None, ()
    goal = min(max(soft.values()), max(hard.values()))
    if goal <= 0:
        return goal, ()
    return goal, (first_reached(soft, goal), first_reached(hard, goal))


def first_reached(gains: Gains, goal: float) -> float:
    """Evaluations at which the line through the points, from nothing at 0, first has the goal."""
    before, had = 0, 0.0
    for budget, gain in sorted(gains.items()):
        if gain >= goal:
            return before + (budget - before) * (goal - had) / max(gain - had, 1e-9)
        before, had = budget, gain
    raise ValueError("the goal is above all gains")


def _mean_gains(runs: Sequence[Mapping[str, Any]], task: str, arm: str) -> dict[int, float]:
    mine = [one for one in runs if one["task"] == task and one["contestant"] == arm]
    return {
        budget: fmean([one["gain"] for one in mine if one["evaluations"] == budget])
        for budget in sorted({one["evaluations"] for one in mine})
    }


def _counts(reached: Sequence[float]) -> list[str]:
    if not reached:
        return ["no gain to compare", "", ""]
    with_, without = reached
    return [f"{with_:.0f}", f"{without:.0f}", f"{with_ / without:.2f}"]


def _told(gains: Gains, budgets: Sequence[int]) -> str:
    return ", ".join(f"{gains[one]:+.3f}" if one in gains else "not run" for one in budgets)


def _words(budgets: Sequence[int]) -> str:
    return ", ".join(f"{one:,}" for one in budgets)
