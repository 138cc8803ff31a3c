"""Evaluation results as people read them: summary, comparison, refinement, failing items."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.text import Text

from burnish.app.evaluate.records import complaint
from burnish.app.evaluate.result import EvaluationResult
from burnish.app.wiring import Workspace
from burnish.cli.display.rows import print_indented, print_rows, print_steps
from burnish.cli.project_location import ProjectLocation
from burnish.cli.wording import (
    cost_words,
    duration,
    harmless,
    money,
    one_line,
    percent,
    short_id,
)
from burnish.domain import ErrorKind, Experiment, ExperimentStatus, ItemResult, Json, Outcome, Round
from burnish.domain.wording import counted, p_words
from burnish.evaluation.looks import level_by_hand, look_words
from burnish.evaluation.refine.statistics import RefinementStatistics
from burnish.evaluation.scorers.assert_checks import BadAssertError, read_asserts
from burnish.evaluation.statistics import PairedComparison
from burnish.models.traffic import Traffic

_GOOD = ExperimentStatus.COMPLETED
Row = tuple[str, Text]
# Rounds of a summary; with more, the first and the last ones say it.
_MOST_ROUNDS = 6
_WORST = 5
# Beyond this, a look at a handful of rows is not worth a pass over all of them.
_MOST_ROWS = 50_000


def print_result(
    console: Console,
    result: EvaluationResult,
    worst: Sequence[FailingItem],
    location: ProjectLocation,
    *,
    seconds: float | None = None,
) -> None:
    """Score, spending, comparison, warnings, the worst items, and what to do next."""
    print_summary(console, result, seconds=seconds)
    if result.comparison is not None and result.baseline_id is not None:
        console.print()
        print_comparison(
            console,
            result.comparison,
            result.baseline_id,
            look=result.look,
            chosen=result.chosen_by_baseline,
        )
    for warning in result.warnings:
        console.print()
        console.print(Text.assemble(("! ", "bold yellow"), (harmless(warning), "yellow")))
    if worst:
        console.print()
        part = ", the worst of them" if result.failed > len(worst) else ""
        console.print(Text(f"{counted(result.failed, 'run')} did not pass{part}:", style="bold"))
        print_failing(console, worst)
    console.print()
    _print_next(console, result, location)


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
    counts = [f"{result.items:,}", f"{result.failed:,} failed", counted(result.errors, "error")]
    if result.summary.skipped:
        counts.append(f"{result.summary.skipped:,} not judged")
    if result.summary.cached:
        counts.append(f"{result.summary.cached:,} cached")
    if result.score is None or result.pass_rate is None:
        rows = [("score", Text("none: nothing was measured", style="bold yellow"))]
    else:
        rate = f"{result.summary.passed:,} of {result.items:,}  {percent(result.pass_rate)}"
        rows = [
            (
                "score",
                _with_interval(f"{result.score:.3f}", f"{score.low:.3f} to {score.high:.3f}"),
            ),
            ("passed", _with_interval(rate, f"{percent(passed.low)} to {percent(passed.high)}")),
        ]
    rows.extend(_win_rows(result))
    rows.append(("runs", Text(" · ".join(counts))))
    planned = result.experiment.planned_items
    if planned is not None and planned > result.items:
        rows.append(("missing", Text(f"{planned - result.items:,} of {planned:,}", style="yellow")))
    rows.extend(refinement_rows(result.refinement))
    rows.extend(_spending_rows(result))
    rows.extend(traffic_rows(result.experiment.metadata.get("traffic")))
    latency = result.summary.avg_latency_ms
    if latency is not None:
        rows.append(("latency", Text(f"{latency:,.1f} ms a run, on average")))
    return rows


def _win_rows(result: EvaluationResult) -> list[Row]:
    """What judges of two outputs came to."""
    rows = []
    for one in result.win_rates:
        bounds = f"{percent(one.interval.low)} to {percent(one.interval.high)}"
        rate = _with_interval(f"{percent(one.win_rate)}", bounds)
        rate.append(f" · {one.wins} won · {one.losses} lost · {counted(one.ties, 'tie')}")
        rows.append((f"win rate {one.name}" if len(result.win_rates) > 1 else "win rate", rate))
    return rows


def traffic_rows(told: Mapping[str, Any] | None) -> list[Row]:
    """What was tried again and why, how long endpoints asked to wait, and what to know of them."""
    if not told:
        return []
    notices = [("notice", Text(words, style="yellow")) for words in told.get("notices", ())]
    if not told["retries"]:
        return notices
    paused = told["paused_seconds"]
    words = Traffic(retries=Counter(told["by_reason"])).tried_again
    return [("retries", Text(f"{words}, {duration(paused)} paused" if paused else words)), *notices]


def _spending_rows(result: EvaluationResult) -> list[tuple[str, Text]]:
    rows = []
    for purpose, usage in result.summary.spending.by_purpose.items():
        words = (
            f"{counted(usage.calls, 'call')} · {usage.token_words} · {cost_words(usage.cost_usd)}"
        )
        rows.append((purpose, Text(words)))
    if len(rows) > 1:
        rows.append(("cost", Text(money(result.summary.spending.total.cost_usd), style="bold")))
    return rows


def _with_interval(value: str, interval: str) -> Text:
    return Text.assemble((value, "bold cyan"), (f"  95% {interval}", "dim"))


def _print_next(console: Console, result: EvaluationResult, location: ProjectLocation) -> None:
    short = short_id(result.experiment_id)
    console.print(Text.assemble(("experiment ", "dim"), result.experiment_id))
    steps = []
    if result.failed:
        steps.append((location.command("show", short, "--failing"), "every failed item"))
    if result.errors:
        steps.append((location.command("eval", "--retry-errors", short), "run the errors again"))
    steps.append((location.command("export", short, "-o", "report.html"), "a page to share"))
    if result.comparison is None:
        steps.append((location.command("eval", "--baseline", short), "compare after a change"))
    print_steps(console, steps)


def verdict(comparison: PairedComparison, look: int = 1, *, chosen: bool = False) -> Text:
    """Better, worse, or not known; a gain has to be the clearer the more often it was looked for.

    Items that were `chosen` because they failed with the baseline show no gain.
    """
    if not comparison.clear:
        return Text("no clear difference", style="yellow")
    if comparison.delta > 0 and comparison.p_value >= level_by_hand(look):
        return Text("no clear difference, for so many looks", style="yellow")
    if comparison.delta > 0 and chosen:
        words = "no gain can be told, since these items were chosen for failing there"
        return Text(words, style="yellow")
    if comparison.delta > 0:
        return Text("better", style="bold green")
    return Text("worse", style="bold red")


def print_comparison(
    console: Console,
    comparison: PairedComparison,
    baseline_id: str,
    *,
    look: int = 1,
    chosen: bool = False,
) -> None:
    """The paired comparison with a baseline."""
    head = f"against {short_id(baseline_id)}, item by item: "
    console.print(Text.assemble((head, "bold"), verdict(comparison, look, chosen=chosen)))
    rows = comparison_rows(comparison)
    if look > 1:
        rows.append(("looks", Text(look_words(look, level_by_hand(look)), style="dim")))
    print_rows(console, rows)


def comparison_rows(comparison: PairedComparison) -> list[tuple[str, Text]]:
    """The numbers with their labels."""
    delta = Text.assemble(
        (f"{comparison.delta:+.3f}", "bold cyan"),
        (f"  95% {comparison.ci_low:+.3f} to {comparison.ci_high:+.3f}", "dim"),
    )
    items = Text()
    items.append(f"{comparison.improved} improved", style="green" if comparison.improved else "")
    items.append(" · ")
    items.append(f"{comparison.worsened} worsened", style="red" if comparison.worsened else "")
    items.append(f" · {comparison.unchanged} unchanged", style="dim")
    p_value = Text(p_words(comparison.p_value))
    p_value.append("  how likely chance alone does this", style="dim")
    return [("change", delta), ("items", items), ("p-value", p_value)]


def refinement_rows(found: RefinementStatistics | None) -> list[Row]:
    """Labelled lines of a summary; none where refinement was never asked for."""
    if found is None:
        return []
    if not found.active:
        why = harmless(str(found.settings.get("why_inactive")))
        return [("refinement", Text(f"inactive: {why}", style="yellow"))]
    return [
        ("refinement", _counts(found)),
        *_rounds(found),
        ("", Text(_answers(found), style="dim")),
        ("", Text(_costs(found))),
    ]


def _counts(found: RefinementStatistics) -> Text:
    words = [
        f"{found.refined:,} of {counted(found.outputs, 'output')} refined",
        f"{found.count(Outcome.FIXED):,} fixed",
        f"{found.count(Outcome.UNCHANGED):,} unchanged",
        f"{found.count(Outcome.WORSENED):,} worsened",
    ]
    if improved := found.count(Outcome.IMPROVED):
        words.insert(2, f"{improved:,} improved")
    return Text(" · ".join(words))


def _rounds(found: RefinementStatistics) -> list[Row]:
    means = found.by_round
    if len(means) > _MOST_ROUNDS:
        means = (*means[: _MOST_ROUNDS // 2], *means[-_MOST_ROUNDS // 2 :])
    return [
        (
            f"round {one.number}",
            Text.assemble(
                (f"{one.score:.3f}", "cyan"),
                (f"  95% {one.interval.low:.3f} to {one.interval.high:.3f}", "dim"),
                f"  {counted(one.outputs, 'output')}",
            ),
        )
        for one in means
    ]


def _answers(found: RefinementStatistics) -> str:
    """Both choices of an answer, and why rounds ended."""
    ends = ", ".join(f"{end.value} {number:,}" for end, number in found.ended.items())
    latest, best = found.latest_score or 0.0, found.best_score or 0.0
    chosen = found.settings.get("answer")
    return f"latest {latest:.3f} · best {best:.3f} · the answer is the {chosen} · ended: {ends}"


def _costs(found: RefinementStatistics) -> str:
    """What refining and judging again cost, and what that is for each output that it fixed."""
    each = found.cost_per_fixed
    words = f"{counted(found.usage.calls, 'call')} · {cost_words(found.usage.cost_usd)}"
    return words if each is None else f"{words} · {money(each)} for each fixed output"


@dataclass(frozen=True, slots=True)
class FailingItem:
    """A failed run, with the item's fields where they could be found."""

    result: ItemResult
    fields: Mapping[str, Json]
    rounds: Sequence[Round] = ()


async def worst_items(
    workspace: Workspace, experiment: Experiment, limit: int = _WORST
) -> list[FailingItem]:
    """The failed runs with the lowest scores, one for each item, in bounded memory."""
    worst: list[ItemResult] = []
    async for result in workspace.experiments.stream_results(experiment.id):
        if not result.passed and not (result.error and result.error.kind is ErrorKind.SKIPPED):
            worst = _with(worst, result, limit)
    fields = await fields_of(workspace, experiment, {result.item_id for result in worst})
    return [FailingItem(result, fields.get(result.item_id, {})) for result in worst]


def _with(worst: list[ItemResult], result: ItemResult, limit: int) -> list[ItemResult]:
    """The list with one more, lowest scores first; of equals the earlier stay."""
    if len(worst) == limit and result.score >= worst[-1].score:
        return worst
    others = [one for one in worst if one.item_id != result.item_id or one.score <= result.score]
    if len(others) == len(worst) and any(one.item_id == result.item_id for one in worst):
        return worst
    return sorted([*others, result], key=lambda one: one.score)[:limit]


async def fields_of(
    workspace: Workspace, experiment: Experiment, item_ids: Collection[str]
) -> dict[str, Mapping[str, Json]]:
    """The fields of some items, as they were when the experiment ran."""
    found: dict[str, Mapping[str, Json]] = {}
    if not item_ids or experiment.dataset_id is None:
        return found
    dataset = await workspace.datasets.get_dataset(experiment.dataset_id)
    if dataset.items > _MOST_ROWS:
        return found
    async for item in workspace.datasets.stream_items(dataset.id):
        if item.id in item_ids:
            found[item.id] = item.data
            if len(found) == len(item_ids):
                break
    return found


def print_failing(console: Console, failing: Sequence[FailingItem]) -> None:
    """Each item in a few short lines."""
    for item in failing:
        result = item.result
        head = Text()
        head.append(f"  {harmless(result.item_id)}", style="bold")
        head.append(f"  {result.score:.2f}  ", style="red")
        head.append(one_line(complaint(result), 160))
        console.print(head)
        asked = ", ".join(
            f"{name}: {one_line(_text(value), 120)}" for name, value in item.fields.items()
        )
        if asked:
            print_indented(console, Text(one_line(asked, 240), style="dim"), 6)
        if result.output is not None:
            answer = Text(f"→ {one_line(result.output.text, 240) or '(nothing)'}")
            print_indented(console, answer, 6)
        _print_rounds(console, item)


def _print_rounds(console: Console, item: FailingItem) -> None:
    """How the output came about, where it was judged in rounds."""
    refined = item.result.refinement
    if refined is None:
        return
    for one in item.rounds:
        score = "no verdict" if one.error else f"{one.score:.2f}"
        said = one_line(one.error or one.reason, 100)
        words = f"round {one.number}  {score}  {one_line(one.output.text, 80)}  {said}"
        print_indented(console, Text(words, style="dim"), 6)
    outcome = refined.outcome.value.replace("_", " ")
    words = f"{outcome}, ended by {refined.ended.value}: {one_line(refined.ended_why, 160)}"
    print_indented(console, Text(words, style="dim"), 6)


def _text(value: Json) -> str:
    """A field in words; the checks that a row brings along by their names."""
    if isinstance(value, str):
        return value
    with contextlib.suppress(BadAssertError):
        return " and ".join(one.label for one in read_asserts(value).checks)
    return json.dumps(value, ensure_ascii=False)
