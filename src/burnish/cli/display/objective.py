"""What counted besides the score: the chosen point, what it trades, and the front."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from burnish.app.report.trades import change_words, counted_measures, top_of_front
from burnish.cli.wording import count, money
from burnish.optimization.objectives.front import MEASURES
from burnish.optimization.objectives.objective import Objective

MEASURE_TITLES = {"tokens": "tokens", "cost": "cost of 1,000", "latency": "latency"}
_UNITS = {
    "tokens": "an evaluation",
    "cost": "a thousand evaluations",
    "latency": "an evaluation",
}
_THOUSAND = 1000


def objective_rows(document: Mapping[str, Any]) -> list[tuple[str, Text]]:
    """What counted, and each measure from the baseline to the chosen one."""
    measures = counted_measures(document)
    if not measures:
        return []
    objective = document["objective"]
    rows = [("objective", Text(Objective.of_json(objective).in_words()))]
    before, after = objective["baseline"], objective["chosen"]
    if before is None or after is None:
        return rows
    for name in measures:
        words = Text(f"{measure_words(name, before)} → ")
        words.append(measure_words(name, after), style="bold cyan")
        words.append(f"  {_UNITS[name]}", style="dim")
        change = change_words([name], before, after)
        rows.append((name, words.append(f", {change}" if change else "", style="dim")))
    if objective["kind"] == "weighted" and after.get("utility") is not None:
        rows.append(("utility", Text(f"{before['utility']:.3f} → {after['utility']:.3f}")))
    rows.append(("chosen", Text(chosen_words(document))))
    return rows


def chosen_words(document: Mapping[str, Any]) -> str:
    """Which point of the front was chosen, and what it gives for what."""
    chosen, top = document["objective"]["chosen"], top_of_front(document)
    name = _name(chosen["number"])
    if top is None or top["score"] <= chosen["score"]:
        return f"{name}, which scores best too"
    lost = f"{top['score'] - chosen['score']:.3f}"
    saved = change_words(counted_measures(document), top, chosen)
    return f"{name}: gives {lost} of score for {saved} against {_name(top['number'])}"


def objective_warnings(document: Mapping[str, Any]) -> list[str]:
    """What was done otherwise than asked for, and what could not be measured."""
    objective = document.get("objective") or {}
    warnings = list(objective.get("notes") or ())
    if objective.get("unmeasured"):
        trials = count(objective["unmeasured"], "trial")
        counted = " or ".join(counted_measures(document))
        warnings.append(f"{trials} could not win by {counted}, which is unknown there")
    return warnings


def print_front(console: Console, front: Sequence[Mapping[str, Any]], chosen: str | None) -> None:
    """The candidates that no other beats, from cheap to dear."""
    shown = [name for name in MEASURES if any(one[MEASURES[name]] is not None for one in front)]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    utility = any(one.get("utility") is not None for one in front)
    titles = [MEASURE_TITLES[name] for name in shown]
    for column in ("#", "score", *titles, *(["utility"] if utility else [])):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("")
    for one in front:
        best = one["candidate_id"] == chosen
        cells = [str(one["number"]), f"{one['score']:.3f}"]
        cells += [measure_words(name, one) for name in shown]
        if utility:
            cells.append("" if one.get("utility") is None else f"{one['utility']:.3f}")
        marks = ["chosen"] if best else []
        marks += ["baseline"] if one["number"] == 0 else []
        table.add_row(*cells, ", ".join(marks), style="bold cyan" if best else "")
    words = f"the front: {count(len(front), 'candidate')} that no other beats on all of these"
    console.print(Text(words, style="bold"), soft_wrap=not console.is_terminal)
    console.print(table)


def measure_words(name: str, point: Mapping[str, Any]) -> str:
    """One measure; dollars are those of a thousand evaluations, to be readable."""
    value = point[MEASURES[name]]
    if value is None:
        return "unknown"
    if name == "cost":
        return money(value * _THOUSAND)
    return f"{value:,.0f} ms" if name == "latency" else f"{value:,.0f}"


def _name(number: int) -> str:
    return f"candidate {number}" if number else "the baseline"
