"""Report of `burnish bench optimizers`: planned from its options, run, documented and printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from burnish.benchmarks.comparison import Notice, Outcome, Plan, compare
from burnish.benchmarks.contestants import REFERENCE, contestants, default_names
from burnish.benchmarks.summary import Standing, document, rivalries, standings
from burnish.benchmarks.wall_time import LATENCY_SECONDS, Pace, measure_paces, pace_ratios
from burnish.benchmarks.worlds import TUNING_SEEDS, WORLDS
from burnish.domain import UsageError

_OWN = "gepa"
_WALL_SEEDS = 3


def make_plan(*, worlds: str, optimizers: str, seeds: range, budgets: str, processes: int) -> Plan:
    """What is to be compared, from options in text; empty text means the default."""
    chosen = _names(worlds) or list(WORLDS)
    unknown = [name for name in chosen if name not in WORLDS]
    if unknown:
        raise UsageError(
            what=f"there is no world {unknown[0]!r}",
            why="it is none of those that come with Burnish",
            fix=f"use some of {', '.join(WORLDS)}",
            code="unknown_world",
        )
    return Plan(
        worlds=chosen,
        contestants=contestants(_names(optimizers) or default_names()),
        seeds=seeds,
        budgets=_budgets(budgets),
        processes=processes,
    )


def run_plan(plan: Plan, *, wall_evaluations: int | None, notice: Notice) -> OptimizersReport:
    """Run the comparison, and measure wall time where evaluations are given for it."""
    report = OptimizersReport(plan=plan, outcome=compare(plan, notice=notice))
    if wall_evaluations is not None:
        report.paces, failures = measure_paces(
            _OWN, plan.seeds[:_WALL_SEEDS], wall_evaluations, notice=notice
        )
        report.outcome.failures += failures
    return report


@dataclass(kw_only=True)
class OptimizersReport:
    """What a comparison of optimizers came to."""

    plan: Plan
    outcome: Outcome
    paces: list[Pace] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Everything, as it is written and printed."""
        plan, curves, paces = self.plan, self.outcome.curves, self.paces
        rows = standings(curves)
        return {
            "worlds": {name: WORLDS[name].about for name in plan.worlds},
            "optimizers": [one.name for one in plan.contestants],
            "seeds": list(plan.seeds),
            "budgets": list(plan.budgets),
            **document(curves, rows),
            "rivalries": [asdict(one) for one in rivalries(rows, _OWN, REFERENCE)],
            "wall": {
                "latency_seconds": LATENCY_SECONDS,
                "paces": [asdict(one) for one in paces],
                "ratios": pace_ratios(paces),
            }
            if paces
            else None,
            "failures": self.outcome.failures,
        }

    def print(self, console: Console) -> None:
        """Tables, then what stands between the two that are compared most."""
        plan, rows = self.plan, standings(self.outcome.curves)
        names = [one.name for one in plan.contestants]
        for budget in plan.budgets:
            of_budget = [row for row in rows if row.budget == budget]
            _print_standings(console, of_budget, plan.worlds, names, len(plan.seeds))
        if self.paces:
            _print_paces(console, self.paces, pace_ratios(self.paces))
        for one in rivalries(rows, _OWN, REFERENCE):
            console.print(
                f"{one.world}, {one.budget:,} calls: {one.optimizer} needs "
                f"{one.calls_ratio:.2f} times the calls of {one.reference} to 90%"
                f"{' (a bound)' if one.bounded else ''}, "
                f"and ends {one.share_difference:+.3f} from it",
                markup=False,
                soft_wrap=True,
            )
        if any(seed in TUNING_SEEDS for seed in plan.seeds):
            console.print(
                "These seeds are for tuning: do not report them.", markup=False, soft_wrap=True
            )


def _budgets(text: str) -> list[int]:
    parts = _names(text)
    if not parts or not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise UsageError(
            what=f"the budgets {text!r} cannot be used",
            why="they are whole numbers above 0, parted by commas",
            fix="give them as in --budgets 700,4000",
            code="invalid_budget",
        )
    return [int(part) for part in parts]


def _names(text: str) -> list[str]:
    return list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def _print_standings(
    console: Console,
    rows: Sequence[Standing],
    worlds: Sequence[str],
    optimizers: Sequence[str],
    seeds: int,
) -> None:
    """What was reached with one budget, how soon, and with how many reflections."""
    if not rows:
        return
    console.print(
        f"Budget of {rows[0].budget:,} calls, medians of {seeds} seeds. "
        "Shares are of the world's maximum; a seed that never got to 90% counts with all calls, "
        "> says that half of them or more did not.",
        soft_wrap=True,
    )
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("world")
    table.add_column("optimizer")
    for column in ("share", "lowest–highest", "calls to 90%", "got there", "reflections", "seeds"):
        table.add_column(column, justify="right")
    by_place = {(row.world, row.optimizer): row for row in rows}
    for world in worlds:
        found = [by_place[world, name] for name in optimizers if (world, name) in by_place]
        for number, row in enumerate(found):
            table.add_row(
                world if number == 0 else "",
                row.optimizer,
                f"{row.share:.3f}",
                f"{row.lowest:.2f}–{row.highest:.2f}",
                f"{'>' if row.never else ''}{row.calls_to_goal:,.0f}",
                f"{row.reached:.0%}",
                f"{row.reflections:,.0f}",
                # Runs that failed are missing in a median: that must not go unseen.
                str(row.seeds) if row.seeds == seeds else f"{row.seeds} of {seeds}",
                end_section=number == len(found) - 1,
            )
    console.print(table)


def _print_paces(console: Console, paces: Sequence[Pace], ratios: Mapping[str, float]) -> None:
    """Wall time, and how the last one's stands to the others'."""
    console.print("Wall time with models of 200 ms; ratios are of the time for an evaluation")
    table = Table(box=box.SIMPLE_HEAD)
    columns = ("", "evaluations", "reflections", "seconds", "ms an evaluation", "gepa over it")
    for column in columns:
        table.add_column(column, justify="left" if not column else "right")
    for pace in paces:
        ratio = ratios.get(pace.contestant)
        table.add_row(
            pace.contestant,
            f"{pace.evaluations:,.0f}",
            f"{pace.reflections:,.0f}",
            f"{pace.seconds:.1f}",
            f"{pace.milliseconds_an_evaluation:.1f}",
            "" if ratio is None else f"{ratio:.3f}",
        )
    console.print(table)
