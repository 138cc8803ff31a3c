"""`burnish bench optimizers`: what was asked for, run, and shown."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from burnish.benchmarks.comparison import Outcome, Plan, compare
from burnish.benchmarks.contestants import REFERENCE, contestants, default_names
from burnish.benchmarks.summary import document, rivalries, standings
from burnish.benchmarks.wall_time import LATENCY_SECONDS, Pace, measure_paces, pace_ratios
from burnish.benchmarks.worlds import TUNING_SEEDS, WORLDS
from burnish.cli.console import Session
from burnish.cli.display.benchmarks import print_paces, print_standings
from burnish.cli.running import termination_interrupts
from burnish.domain import UnavailableError, UsageError

_OWN = "gepa"
_WALL_SEEDS = 3


@dataclass(frozen=True, kw_only=True)
class OptimizersRequest:
    """The options as they were given; empty text means the default."""

    worlds: str
    optimizers: str
    seeds: range
    budgets: str
    wall_evaluations: int | None
    processes: int
    output: Path | None


def bench_optimizers(session: Session, request: OptimizersRequest) -> None:
    """Run the comparison, print it, and write it where it was asked for."""
    plan = _plan(request)
    if request.output is not None and not request.output.parent.is_dir():
        raise UsageError(
            what=f"the result cannot be written to {request.output}",
            why="its folder does not exist",
            fix="make the folder, or name another",
            code="invalid_output",
        )

    def notice(line: str) -> None:
        session.messages.print(line, soft_wrap=True)

    with termination_interrupts():
        outcome = compare(plan, notice=notice)
        paces: list[Pace] = []
        if request.wall_evaluations is not None:
            paces, failures = measure_paces(
                _OWN, request.seeds[:_WALL_SEEDS], request.wall_evaluations, notice=notice
            )
            outcome.failures += failures
    result = _document(plan, outcome, paces)
    if request.output is not None:
        text = json.dumps(result, ensure_ascii=False, indent=1)
        request.output.write_text(text + "\n", encoding="utf-8")
    if session.json_output:
        session.print_document(result)
    else:
        _show(session, plan, outcome, paces)
    if not outcome.curves:
        raise UnavailableError(
            what="nothing could be compared",
            why=outcome.failures[0] if outcome.failures else "no run came to an end",
            fix="see the messages above",
        )


def _plan(request: OptimizersRequest) -> Plan:
    worlds = _names(request.worlds) or list(WORLDS)
    unknown = [name for name in worlds if name not in WORLDS]
    if unknown:
        raise UsageError(
            what=f"there is no world {unknown[0]!r}",
            why="it is none of those that come with Burnish",
            fix=f"use some of {', '.join(WORLDS)}",
            code="unknown_world",
        )
    return Plan(
        worlds=worlds,
        contestants=contestants(_names(request.optimizers) or default_names()),
        seeds=request.seeds,
        budgets=_budgets(request.budgets),
        processes=request.processes,
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


def _document(plan: Plan, outcome: Outcome, paces: Sequence[Pace]) -> dict[str, Any]:
    rows = standings(outcome.curves)
    return {
        "worlds": {name: WORLDS[name].about for name in plan.worlds},
        "optimizers": [one.name for one in plan.contestants],
        "seeds": list(plan.seeds),
        "budgets": list(plan.budgets),
        **document(outcome.curves, rows),
        "rivalries": [asdict(one) for one in rivalries(rows, _OWN, REFERENCE)],
        "wall": {
            "latency_seconds": LATENCY_SECONDS,
            "paces": [asdict(one) for one in paces],
            "ratios": pace_ratios(paces),
        }
        if paces
        else None,
        "failures": outcome.failures,
    }


def _show(session: Session, plan: Plan, outcome: Outcome, paces: Sequence[Pace]) -> None:
    rows = standings(outcome.curves)
    names = [one.name for one in plan.contestants]
    for budget in plan.budgets:
        of_budget = [row for row in rows if row.budget == budget]
        print_standings(session.console, of_budget, plan.worlds, names, len(plan.seeds))
    if paces:
        print_paces(session.console, paces, pace_ratios(paces))
    for one in rivalries(rows, _OWN, REFERENCE):
        session.say(
            f"{one.world}, {one.budget:,} calls: {one.optimizer} needs {one.calls_ratio:.2f} times "
            f"the calls of {one.reference} to 90%{' (a bound)' if one.bounded else ''}, "
            f"and ends {one.share_difference:+.3f} from it"
        )
    if any(seed in TUNING_SEEDS for seed in plan.seeds):
        session.say("These seeds are for tuning: do not report them.")
    for failure in outcome.failures:
        session.messages.print(f"not measured: {failure}", soft_wrap=True)
