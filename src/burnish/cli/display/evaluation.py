"""The result of an evaluation as people read it."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from burnish.app.evaluate.result import EvaluationResult
from burnish.cli.display.comparisons import print_comparison
from burnish.cli.display.failing_items import FailingItem, print_failing
from burnish.cli.display.refinement import refinement_rows
from burnish.cli.display.rows import print_rows, print_steps
from burnish.cli.project_location import Place
from burnish.cli.wording import count, duration, harmless, money, percent, short_id
from burnish.domain import ExperimentStatus

_GOOD = ExperimentStatus.COMPLETED


def print_result(
    console: Console,
    result: EvaluationResult,
    worst: Sequence[FailingItem],
    place: Place,
    *,
    seconds: float | None = None,
) -> None:
    """Score, spending, comparison, warnings, the worst items, and what to do next."""
    print_summary(console, result, seconds=seconds)
    if result.comparison is not None and result.baseline_id is not None:
        console.print()
        print_comparison(console, result.comparison, result.baseline_id)
    for warning in result.warnings:
        console.print()
        console.print(Text.assemble(("! ", "bold yellow"), (harmless(warning), "yellow")))
    if worst:
        console.print()
        label = "the worst of them" if result.failed > len(worst) else "all of them"
        console.print(Text(f"{count(result.failed, 'run')} did not pass, {label}:", style="bold"))
        print_failing(console, worst)
    console.print()
    _print_next(console, result, place)


def print_summary(
    console: Console, result: EvaluationResult, *, seconds: float | None = None
) -> None:
    """What was run and the numbers that came out."""
    experiment = result.experiment
    status_style = "green" if experiment.status is _GOOD else "bold yellow"
    head = Text.assemble(
        (harmless(experiment.name), "bold"),
        (f"  {experiment.status.value}", status_style),
        (f" in {duration(seconds)}" if seconds is not None else "", "dim"),
    )
    console.print(head)
    console.print()
    print_rows(console, summary_rows(result))


def summary_rows(result: EvaluationResult) -> list[tuple[str, Text]]:
    """The numbers with their labels."""
    score, passed = result.score_interval, result.pass_interval
    rate = f"{result.items - result.failed:,} of {result.items:,}  {percent(result.pass_rate)}"
    counts = [f"{result.items:,}", f"{result.failed:,} failed", count(result.errors, "error")]
    if result.summary.cached:
        counts.append(f"{result.summary.cached:,} cached")
    rows = [
        ("score", _with_interval(f"{result.score:.3f}", f"{score.low:.3f} to {score.high:.3f}")),
        ("passed", _with_interval(rate, f"{percent(passed.low)} to {percent(passed.high)}")),
        ("runs", Text(" · ".join(counts))),
    ]
    planned = result.experiment.planned_items
    if planned is not None and planned > result.items:
        rows.append(("missing", Text(f"{planned - result.items:,} of {planned:,}", style="yellow")))
    rows.extend(refinement_rows(result.refinement))
    rows.extend(_spending_rows(result))
    latency = result.summary.avg_latency_ms
    if latency is not None:
        rows.append(("latency", Text(f"{latency:,.1f} ms a run, on average")))
    return rows


def _spending_rows(result: EvaluationResult) -> list[tuple[str, Text]]:
    rows = []
    for purpose, usage in result.summary.spending.by_purpose.items():
        words = (
            f"{count(usage.calls, 'call')} · {usage.input_tokens:,} tokens in · "
            f"{usage.output_tokens:,} out · {money(usage.cost_usd)}"
        )
        rows.append((purpose, Text(words)))
    if len(rows) > 1:
        rows.append(("cost", Text(money(result.summary.spending.total.cost_usd), style="bold")))
    return rows


def _with_interval(value: str, interval: str) -> Text:
    return Text.assemble((value, "bold cyan"), (f"  95% {interval}", "dim"))


def _print_next(console: Console, result: EvaluationResult, place: Place) -> None:
    short = short_id(result.experiment_id)
    console.print(Text.assemble(("experiment ", "dim"), result.experiment_id))
    steps = []
    if result.failed:
        steps.append((place.command("show", short, "--failing"), "every failed item"))
    if result.errors:
        steps.append((place.command("eval", "--retry-errors", short), "run the errors again"))
    steps.append((place.command("export", short, "-o", "report.html"), "a page to share"))
    if result.comparison is None:
        steps.append((place.command("eval", "--baseline", short), "compare after a change"))
    print_steps(console, steps)
