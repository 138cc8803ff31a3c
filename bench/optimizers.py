"""Optimizers in simulated worlds: what `burnish bench optimizers --wall` measures."""

from __future__ import annotations

import os
import sys

from bench.processes import ROOT
from bench.results import Section
from burnish.benchmarks.comparison import Plan, compare
from burnish.benchmarks.contestants import REFERENCE, contestants, default_names
from burnish.benchmarks.summary import Rivalry, Standing, rivalries, standings
from burnish.benchmarks.wall_time import Pace, measure_paces, pace_ratios
from burnish.benchmarks.worlds import FIRST_REPORTED_SEED, WORLDS

OWN = "gepa"
SEEDS = range(FIRST_REPORTED_SEED, FIRST_REPORTED_SEED + 10)
BUDGETS = (700, 4_000)
# Long runs of these take very long in all; `burnish bench optimizers` has no such limit.
SLOW = dict.fromkeys(("dspy_gepa", "edits", "evolve", "meta_prompt"), BUDGETS[0])
WALL_EVALUATIONS, WALL_SEEDS = 400, 3


def run() -> Section:
    """Everything in one run, on seeds that were not used while tuning."""
    os.environ.setdefault("BURNISH_BENCH_VENVS", str(ROOT / ".bench-venvs"))
    names = default_names()
    plan = Plan(
        worlds=list(WORLDS),
        contestants=contestants(names),
        seeds=SEEDS,
        budgets=BUDGETS,
        most=SLOW,
    )
    outcome = compare(plan, notice=say)
    paces, failures = measure_paces(OWN, SEEDS[:WALL_SEEDS], WALL_EVALUATIONS, notice=say)
    rows = standings(outcome.curves)
    by_place = {(row.world, row.budget, row.optimizer): row for row in rows}
    return Section(
        name="optimizers",
        title="Optimizers in simulated worlds",
        command="burnish bench optimizers --wall",
        columns=["world", "calls", *names],
        rows=[
            [world, f"{budget:,}", *(cell(by_place.get((world, budget, name))) for name in names)]
            for world in WORLDS
            for budget in BUDGETS
        ],
        notes=[
            f"Each cell: median share of the world's maximum over {len(SEEDS)} seeds (lowest to "
            "highest), and the median of calls to 90% of the maximum with the share of seeds that "
            "got there. `>` says that half of the seeds or more never did.",
            f"Seeds {SEEDS[0]} to {SEEDS[-1]}; tuning used seeds below 100. The score is the world's "
            "exact expectation, calls are counted inside the simulated task model, and what a peer "
            "finds beyond the budget does not count.",
            *(
                f"{name} ran with at most {most} calls, to save time."
                for name, most in SLOW.items()
            ),
            *(rivalry_note(one) for one in rivalries(rows, OWN, REFERENCE)),
            "All worlds are our own. The simulated reflection model reads the first fenced text and "
            "the feedback of any prompt, and nothing else.",
            *pace_notes(paces),
            *(f"Not measured: {one}" for one in (*outcome.failures, *failures)),
        ],
    )


def cell(row: Standing | None) -> str:
    if row is None:
        return "–"
    calls = f"{'>' if row.never else ''}{row.calls_to_goal:,.0f}"
    missing = "" if row.seeds == len(SEEDS) else f", {row.seeds} of {len(SEEDS)} seeds ran"
    return f"{row.share:.3f} ({row.lowest:.2f}–{row.highest:.2f}), {calls} ({row.reached:.0%}){missing}"


def rivalry_note(one: Rivalry) -> str:
    bound = ", a bound because one of them never got there" if one.bounded else ""
    return (
        f"{one.world} with {one.budget:,} calls: `{one.optimizer}` needs {one.calls_ratio:.2f} times "
        f"the calls of `{one.reference}` to 90%{bound}; final share {one.share_difference:+.3f}."
    )


def pace_notes(paces: list[Pace]) -> list[str]:
    ratios = pace_ratios(paces)
    return [
        f"Wall time with models of 200 ms, {pace.contestant}: {pace.evaluations:,.0f} evaluations and "
        f"{pace.reflections:,.0f} reflections in {pace.seconds:.1f} s, "
        f"{pace.milliseconds_an_evaluation:.1f} ms an evaluation"
        + (
            f"; `{OWN}` takes {ratios[pace.contestant]:.3f} times that."
            if pace.contestant in ratios
            else "."
        )
        for pace in paces
    ]


def say(line: str) -> None:
    print(f"  {line}", file=sys.stderr)
