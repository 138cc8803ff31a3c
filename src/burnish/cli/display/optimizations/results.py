"""The result of an optimization as people read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from burnish.app.optimize.result import OptimizationResult
from burnish.app.report.differences import difference
from burnish.app.report.run_evidence import overruled_words
from burnish.app.report.trades import counted_measures, is_refuted
from burnish.cli.display.comparisons import p_words
from burnish.cli.display.differences import print_difference
from burnish.cli.display.objective import objective_rows, objective_warnings, print_front
from burnish.cli.display.rows import print_rows, print_steps
from burnish.cli.display.search_verdict import search_verdict
from burnish.cli.project_location import Place
from burnish.cli.wording import count, duration, harmless, money, short_id
from burnish.domain import ExperimentStatus, OptimizationStatus

_STATUS_STYLES = {OptimizationStatus.COMPLETED: "green", OptimizationStatus.FAILED: "bold red"}


def print_search_result(
    console: Console,
    result: OptimizationResult,
    place: Place,
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
    for warning in (*warnings, *objective_warnings(result.document)):
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
    console.print()
    print_rows(console, spending_rows(result))
    console.print()
    console.print(Text.assemble(("optimization ", "dim"), result.optimization_id))
    print_steps(console, next_steps(result, place))


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
        items = count(test["items"], "item")
        rows.append(
            (
                "held out",
                _pair(test["baseline_score"], test["best_score"], f"{items}, never searched on"),
            )
        )
    if document["improvement"] is not None and result.improved:
        rows += improvement_rows(document["improvement"], None if test is None else test["items"])
    return rows


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
    for purpose, usage in result.usage["by_purpose"].items():
        words = (
            f"{count(usage['calls'], 'call')} · {usage['input_tokens']:,} tokens in · "
            f"{usage['output_tokens']:,} out · {money(usage['cost_usd'])}"
        )
        rows.append((purpose, Text(words)))
    if len(result.usage["by_purpose"]) > 1:
        rows.append(("cost", Text(money(result.usage["cost_usd"]), style="bold")))
    reason, message = document["stop_reason"], document.get("stop_message")
    words = f"{reason}: {message}" if message else str(reason)
    rows.append(("stopped by", Text(harmless(words))))
    return rows


def next_steps(result: OptimizationResult, place: Place) -> list[tuple[str, str]]:
    """Commands to go on with."""
    short = short_id(result.optimization_id)
    steps = [(place.command("show", short, "--trials"), "every trial; --graph for the lineage")]
    if result.improved:
        steps.append((place.command("diff", short), "the change, word by word"))
        if not is_refuted(result.document):
            promote = place.command("promote", short)
            steps.append((promote, "make it the agent's active configuration"))
    steps.append((place.command("report", short, "-o", "report.html"), "a page to share"))
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
