"""Optimization results as people read them: scores, verdict, objective, front, spending."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from burnish.app.optimize.result import OptimizationResult
from burnish.app.report.differences import difference
from burnish.app.report.runs.evidence import (
    change_words,
    counted_measures,
    error_words,
    held_out_items,
    is_proven,
    is_refuted,
    overruled_words,
    part_words,
    top_of_front,
    trade_words,
)
from burnish.app.report.runs.search_report import search_of
from burnish.cli.display.differences import print_difference
from burnish.cli.display.evaluation import traffic_rows
from burnish.cli.display.rows import print_indented, print_rows, print_steps
from burnish.cli.project_location import ProjectLocation
from burnish.cli.wording import cost_words, duration, harmless, money, one_line, short_id
from burnish.domain import ExperimentStatus, OptimizationStatus, Spending
from burnish.domain.optimizations.records import too_many_missing
from burnish.domain.wording import counted, p_relation, p_words
from burnish.optimization.objective import MEASURES, Objective

_STATUS_STYLES = {OptimizationStatus.COMPLETED: "green", OptimizationStatus.FAILED: "bold red"}
# Two-sided: a gain that chance alone gives more often than one time in ten is not called probable.
_LIKELY = 0.2
_SHOWN_BLOCKS = 8
MEASURE_TITLES = {"tokens": "tokens", "cost": "cost of 1,000", "latency": "latency"}
_UNITS = {
    "tokens": "an evaluation",
    "cost": "a thousand evaluations",
    "latency": "an evaluation",
}
_THOUSAND = 1000


def print_search_result(
    console: Console,
    result: OptimizationResult,
    location: ProjectLocation,
    warnings: Sequence[str] = (),
    *,
    seconds: float | None = None,
) -> None:
    """Scores, evidence, verdict, the changed prompt, spending, and what to do next."""
    print_head(console, result, seconds=seconds)
    console.print()
    print_rows(console, [*score_rows(result), *objective_rows(result.document)])
    console.print()
    console.print(search_verdict(result.document), soft_wrap=not console.is_terminal)
    overruled = overruled_words(result.document, result.record.optimizer_name)
    if overruled is not None:
        console.print(Text(overruled, style="dim"), soft_wrap=not console.is_terminal)
    part = part_words(result.document)
    told = (
        *error_words(result.document),
        *warnings,
        *([part] if part else []),
        *objective_warnings(result.document),
    )
    for warning in told:
        console.print(Text.assemble(("! ", "bold yellow"), (harmless(warning), "yellow")))
    if counted_measures(result.document) and result.front:
        console.print()
        print_front(console, result.objective["front"], result.document["best"]["candidate_id"])
    if result.improved:
        console.print()
        console.print(Text("what changed", style="bold"))
        print_difference(
            console, difference(result.baseline.configuration, result.best.configuration)
        )
    print_search_report(console, result.document)
    console.print()
    print_rows(console, spending_rows(result))
    console.print()
    console.print(
        Text.assemble(
            ("optimization ", "dim"), result.optimization_id, (f"  seed {result.seed}", "dim")
        )
    )
    print_steps(console, next_steps(result, location))


def print_head(
    console: Console, result: OptimizationResult, *, seconds: float | None = None
) -> None:
    """What was run and how it ended."""
    record = result.record
    console.print(
        Text.assemble(
            (harmless(record.name), "bold"),
            (f"  {record.status.value}", _STATUS_STYLES.get(record.status, "bold yellow")),
            (f" in {duration(seconds)}" if seconds is not None else "", "dim"),
        )
    )


def score_rows(result: OptimizationResult) -> list[tuple[str, Text]]:
    """Baseline against best, in the search and on held-out items."""
    document = result.document
    if document["baseline"] is None:
        return [("baseline", Text("not scored", style="yellow"))]
    rows = [("validation", _pair(result.baseline.score, result.best.score, _who(result)))]
    test = document["test"]
    if test is not None:
        items = held_out_items(test, "item")
        rows.append(
            (
                "held out",
                _pair(test["baseline_score"], test["best_score"], f"{items}, never searched on"),
            )
        )
    if document["improvement"] is not None and result.improved:
        rows += improvement_rows(document["improvement"], None if test is None else test["items"])
    return rows


def print_search_report(console: Console, document: Mapping[str, Any]) -> None:
    """What the search learnt, if the optimizer told: sentences, and the worth of blocks."""
    found = search_of(document)
    if found is None:
        return
    console.print()
    console.print(Text("what the search learnt", style="bold"))
    for words in found["words"]:
        print_indented(console, Text(harmless(words)), 2)
    rows = []
    for one in found["blocks"][:_SHOWN_BLOCKS]:
        worth = f"{one['worth']:+.3f} ({one['low']:+.2f} to {one['high']:+.2f})"
        where = one["section"] if one["in_winner"] else f"{one['section']}, not in the winner"
        rows.append((worth, Text.assemble((f"{where}: ", "dim"), one_line(one["text"], 160))))
    print_rows(console, rows)


def improvement_rows(improvement: Mapping[str, Any], items: int | None) -> list[tuple[str, Text]]:
    """The difference with its interval, the items behind it and the p-value."""
    delta = Text.assemble(
        (f"{improvement['delta']:+.3f}", "bold cyan"),
        (f"  95% {improvement['ci_low']:+.3f} to {improvement['ci_high']:+.3f}", "dim"),
    )
    fixed, broken = improvement["fixed"], improvement["broken"]
    changed = Text()
    changed.append(f"{fixed} fixed", style="green" if fixed else "")
    changed.append(" · ")
    changed.append(f"{broken} broken", style="red" if broken else "")
    if items is not None:
        changed.append(f" · {items - fixed - broken} unchanged", style="dim")
    p_value = Text(p_words(improvement["p_value"]))
    p_value.append("  how likely chance alone does this", style="dim")
    return [("change", delta), ("items", changed), ("p-value", p_value)]


def spending_rows(result: OptimizationResult) -> list[tuple[str, Text]]:
    """What was tried, what it cost by purpose, and why it stopped."""
    document = result.document
    rows = [("trials", Text(_trials(result))), ("evaluations", Text(f"{result.evaluations:,}"))]
    for purpose, usage in Spending.of(result.usage["by_purpose"]).by_purpose.items():
        words = (
            f"{counted(usage.calls, 'call')} · {usage.token_words} · {cost_words(usage.cost_usd)}"
        )
        rows.append((purpose, Text(words)))
    if len(result.usage["by_purpose"]) > 1:
        rows.append(("cost", Text(money(result.usage["cost_usd"]), style="bold")))
    rows += traffic_rows(document.get("traffic"))
    reason, message = document["stop_reason"], document.get("stop_message")
    words = f"{reason}: {message}" if message else str(reason)
    rows.append(("stopped by", Text(harmless(words))))
    return rows


def next_steps(result: OptimizationResult, location: ProjectLocation) -> list[tuple[str, str]]:
    """Commands to go on with."""
    short = short_id(result.optimization_id)
    steps = [(location.command("show", short, "--trials"), "every trial; --graph for the lineage")]
    if result.improved:
        steps.append((location.command("diff", short), "the change, word by word"))
        if not is_refuted(result.document):
            promote = location.command("promote", short)
            steps.append((promote, "make it the agent's active configuration"))
    steps.append((location.command("report", short, "-o", "report.html"), "a page to share"))
    return steps


def _trials(result: OptimizationResult) -> str:
    tried = [one for one in result.trials if result.candidates[one.candidate_id].number != 0]
    done = sum(1 for one in tried if one.status is ExperimentStatus.COMPLETED)
    pruned = sum(1 for one in tried if one.status is ExperimentStatus.PRUNED)
    failed = len(tried) - done - pruned
    parts = [f"{len(tried):,}"]
    for number, words in (
        (done, "completed"),
        (pruned, "ended early"),
        (failed, "without a score"),
        (int(result.document["rejections"]), "proposals refused"),
    ):
        if number:
            parts.append(f"{number:,} {words}")
    return " · ".join(parts)


def _who(result: OptimizationResult) -> str:
    if not result.improved:
        return "the baseline"
    number = result.candidates[result.best.candidate_id].number
    return f"candidate {number}"


def _pair(before: float, after: float, note: str) -> Text:
    return Text.assemble(f"{before:.3f} → ", (f"{after:.3f}", "bold cyan"), (f"  {note}", "dim"))


def search_verdict(document: Mapping[str, Any]) -> Text:
    """One or two sentences: whether it is better, how sure that is, and else why not."""
    if not document["improved"] and document.get("status") == "cancelled":
        return _said("cancelled", "before anything beat the baseline.", "yellow")
    if not document["improved"]:
        why = document.get("why_not_improved") or "no candidate was better"
        return _said("nothing beat the baseline", f"{why}. The baseline stays.", "yellow")
    improvement = document["improvement"]
    if improvement is None:
        why = str(document.get("confirmation") or "not confirmed")
        return _said("better in the search only", f"{why}.", "yellow")
    if not improvement["held_out"]:
        return _said(
            "better on the items of the search",
            "nothing was held out, so the gain likely looks larger than it is. Add a test split.",
            "yellow",
        )
    items = held_out_items(document["test"])
    if counted_measures(document):
        return _by_objective(document, items)
    if improvement["delta"] <= 0:
        return _said(
            "not better",
            f"the gain in the search did not show on {items}. Keep the baseline.",
            "red",
        )
    if not is_proven(document):
        return _unproven(improvement, items)
    return _said(
        "better",
        f"proven on {items} that the search never saw ({p_relation(improvement['p_value'])}).",
        "green",
    )


def _unproven(improvement: Mapping[str, Any], items: str) -> Text:
    missing = improvement.get("missing") or 0
    if too_many_missing(improvement.get("items") or 0, missing):
        answers = f"{counted(missing, 'answer')} of the comparison never came, more than 5%."
        return _said("not proven", f"{answers} Run it again once everything answers.", "yellow")
    return _said(
        "probably better, not proven" if improvement["p_value"] <= _LIKELY else "not proven",
        f"the gain on {items} may be chance ({p_relation(improvement['p_value'])}). "
        "More test items would tell.",
        "yellow",
    )


def _by_objective(document: Mapping[str, Any], items: str) -> Text:
    """What counts is the score with what it takes."""
    improvement = document["improvement"]
    change = f"score {improvement['delta']:+.3f} with {trade_words(document)} on {items}"
    if is_refuted(document):
        words = f"{change}, so the gain in the search did not show. Keep the baseline."
        return _said("not better by the objective", words, "red")
    if not is_proven(document):
        low, high = improvement["ci_low"], improvement["ci_high"]
        words = (
            f"{change}, but the score may lie at {low:+.3f} to {high:+.3f}. More items would tell."
        )
        return _said("probably better by the objective, not proven", words, "yellow")
    return _said("better by the objective", f"{change}.", "green")


def _said(headline: str, words: str, colour: str) -> Text:
    return Text.assemble((f"{headline}: ", f"bold {colour}"), words)


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
        trials = counted(objective["unmeasured"], "trial")
        measures = " or ".join(counted_measures(document))
        warnings.append(f"{trials} could not win by {measures}, which is unknown there")
    return warnings


def print_front(console: Console, front: Sequence[Mapping[str, Any]], chosen: str | None) -> None:
    """The candidates that no other beats, from cheap to dear."""
    shown = [name for name in MEASURES if any(one[MEASURES[name]] is not None for one in front)]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    utility = any(one.get("utility") is not None for one in front)
    titles = [MEASURE_TITLES[name] for name in shown]
    for column in ("#", "score", *titles, *(["utility"] if utility else [])):
        table.add_column(column, justify="right", no_wrap=True)
    models = any(one.get("model") for one in front)
    if models:
        table.add_column("model", overflow="fold")
    table.add_column("")
    for one in front:
        best = one["candidate_id"] == chosen
        cells: list[str | Text] = [str(one["number"]), f"{one['score']:.3f}"]
        cells += [measure_words(name, one) for name in shown]
        if utility:
            cells.append("" if one.get("utility") is None else f"{one['utility']:.3f}")
        if models:
            cells.append(Text(harmless(one.get("model") or "")))
        marks = ["chosen"] if best else []
        marks += ["baseline"] if one["number"] == 0 else []
        table.add_row(*cells, ", ".join(marks), style="bold cyan" if best else "")
    words = f"the front: {counted(len(front), 'candidate')} that no other beats on all of these"
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
