"""Reads what changed item by item between the baseline and what it is compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from burnish.app.report.html.material import (
    Change,
    ItemChange,
    ItemComparison,
    Material,
    Side,
)
from burnish.app.wiring import Workspace
from burnish.domain import ItemResult, Json, UsageError

MAX_CHANGED = 300
MAX_UNCHANGED = 200
# Means over repeats differ by rounding where they are the same in truth.
_ROUNDING = 1e-12
# Confirmations are the last experiments of a run, so the newest few hold them.
_NEWEST = 16

Scores = Mapping[str, float]
Results = Mapping[str, tuple[ItemResult, ...]]


async def read_comparison(workspace: Workspace, material: Material) -> ItemComparison | None:
    """On held-out items where both were confirmed, else on the items of the search."""
    if material.baseline is None or material.subject is None:
        return None
    held_out = await _confirmations(workspace, material)
    pair = held_out or _trials(material)
    if pair is None:
        return None
    try:
        before, after = [await workspace.experiments.item_scores(one) for one in pair]
    except UsageError as error:
        if error.code == "not_found":  # An orphaned trial names an experiment that is not there.
            return None
        raise
    changes = classify(before, after)
    chosen = choose(changes, after)
    results = [await _results(workspace, one, chosen) for one in pair]
    fields = await _fields(workspace, material.record.dataset_id, set(chosen))
    return ItemComparison(
        held_out=held_out is not None,
        counts={change: list(changes.values()).count(change) for change in Change},
        shown=tuple(
            ItemChange(
                item_id=item,
                change=changes[item],
                before=Side(score=before[item], results=results[0].get(item, ())),
                after=Side(score=after[item], results=results[1].get(item, ())),
                fields=fields.get(item, {}),
            )
            for item in chosen
        ),
    )


def classify(before: Scores, after: Scores) -> dict[str, Change]:
    """What became of each item that both have a score of."""
    return {
        item: _change(after[item] - before[item]) for item in sorted(before.keys() & after.keys())
    }


def choose(changes: Mapping[str, Change], after: Scores) -> list[str]:
    """The items to show: broken, fixed, then unchanged ones with the lowest scores first."""
    broken, fixed, unchanged = (
        [item for item, one in changes.items() if one is change] for change in Change
    )
    half = MAX_CHANGED // 2
    some_broken = broken[: max(half, MAX_CHANGED - len(fixed))]
    some_fixed = fixed[: MAX_CHANGED - len(some_broken)]
    unchanged.sort(key=lambda item: (after[item], item))
    return [*some_broken, *some_fixed, *unchanged[:MAX_UNCHANGED]]


def _change(difference: float) -> Change:
    if abs(difference) <= _ROUNDING:
        return Change.UNCHANGED
    return Change.FIXED if difference > 0 else Change.BROKEN


async def _confirmations(workspace: Workspace, material: Material) -> tuple[str, str] | None:
    newest = await workspace.experiments.list_experiments(
        limit=_NEWEST, optimization_id=material.record.id
    )
    found = {
        one.metadata.get("candidate_id"): one.id
        for one in newest
        if one.metadata.get("role") == "confirmation" and one.status.final
    }
    assert material.baseline is not None
    assert material.subject is not None
    pair = found.get(material.baseline.id), found.get(material.subject.id)
    return None if pair[0] is None or pair[1] is None else (pair[0], pair[1])


def _trials(material: Material) -> tuple[str, str] | None:
    assert material.baseline is not None
    assert material.subject is not None
    pair = [material.trials.get(one.id) for one in (material.baseline, material.subject)]
    found = [one.experiment_id for one in pair if one is not None and one.counts]
    return (found[0], found[1]) if len(found) == 2 else None


async def _results(workspace: Workspace, experiment_id: str, items: Sequence[str]) -> Results:
    found: dict[str, tuple[ItemResult, ...]] = {}
    for result in await workspace.experiments.get_results(experiment_id, item_ids=items):
        found[result.item_id] = (*found.get(result.item_id, ()), result)
    return found


async def _fields(
    workspace: Workspace, dataset_id: str | None, wanted: set[str]
) -> dict[str, Mapping[str, Json]]:
    found: dict[str, Mapping[str, Json]] = {}
    if dataset_id is None or not wanted:
        return found
    async for item in workspace.datasets.stream_items(dataset_id):
        if item.id in wanted:
            found[item.id] = item.data
            if len(found) == len(wanted):
                break
    return found
