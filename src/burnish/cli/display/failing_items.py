"""Items that did not pass: which are worst, and what was asked and answered."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from burnish.app.wiring import Workspace
from burnish.cli.display.rows import print_indented
from burnish.cli.wording import harmless, one_line
from burnish.domain import Experiment, ItemResult, Json, Round

_WORST = 5
# Beyond this, a look at a handful of rows is not worth a pass over all of them.
_MOST_ROWS = 50_000


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
        if not result.passed:
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


def complaint(result: ItemResult) -> str:
    """Why a run did not pass: its error, or the first scorer's reason."""
    if result.error is not None:
        return f"{result.error.kind.value} error: {result.error.message}"
    reasons = [score.reason for score in result.scores if score.reason]
    return reasons[0] if reasons else ""


def _text(value: Json) -> str:
    return value if isinstance(value, str) else repr(value)
