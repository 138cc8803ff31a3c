"""Items that went wrong in a run, kept in a dataset so that they are looked at from now on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping
from enum import StrEnum
from typing import Any

from burnish.app.datasets.stored import row_of
from burnish.app.datasets.uploads import StoredUpload, store_rows
from burnish.app.evaluate.records import complaint
from burnish.app.wiring import Workspace
from burnish.domain import Experiment, Item, ItemResult, Score, UsageError
from burnish.evaluation.datasets import Dataset

_SHOWN = 2000


class Which(StrEnum):
    """Items that did not pass, or those that did for the baseline and do not any more."""

    FAILING = "failing"
    REGRESSED = "regressed"


async def save_cases(
    workspace: Workspace,
    name: str,
    experiment_id: str,
    *,
    which: Which = Which.FAILING,
    baseline_experiment_id: str | None = None,
    into: str | None = None,
    append: bool = False,
    item_ids: Collection[str] | None = None,
) -> tuple[StoredUpload, int]:
    """The dataset with the cases, and how many are new in it. `into` is one to go on with.

    A dataset that is there stays as it is: with more rows it is a new one, under the same name.
    `append` goes on with the newest of that name. Of `item_ids` only those are kept that went wrong.
    """
    experiment = await workspace.experiments.get_experiment(experiment_id)
    if append and into is None:
        named = (await workspace.dataset_pages.datasets(name=name, limit=1)).items
        into = named[0].id if named else None
    wrong = await _wrong_items(workspace, experiment)
    if item_ids is not None:
        wrong = {key: one for key, one in wrong.items() if key in set(item_ids)}
    if which is Which.REGRESSED:
        baseline = baseline_experiment_id or await _baseline_of(workspace, experiment)
        wrong = await _passed_before(workspace, baseline, wrong)
    if not wrong:
        raise UsageError(
            what="there is nothing to save",
            why=f"no item {'of those that are named ' * (item_ids is not None)}is {which.value} in "
            f"experiment {experiment.id}",
            fix="name another experiment" + ", or other items" * (item_ids is not None),
            code="nothing_failing",
        )
    rows, origins = await _existing(workspace, into)
    known = {one.hash for one in rows.values()}
    added = 0
    async for item in _items(workspace, experiment, wrong):
        if item.hash in known:
            continue
        kept = _named_apart(item, rows)
        rows[kept.id] = kept
        known.add(item.hash)
        origins[kept.id] = _origin(experiment, item, wrong[item.id], which)
        added += 1
    dataset = Dataset.of([row_of(one) for one in rows.values()], name=name)
    stored = await store_rows(workspace, dataset)
    await workspace.dataset_pages.add_origins(stored.record.id, origins)
    return stored, added


async def _wrong_items(workspace: Workspace, experiment: Experiment) -> dict[str, ItemResult]:
    """By item the first of its runs that did not pass."""
    wrong: dict[str, ItemResult] = {}
    async for result in workspace.experiments.stream_results(experiment.id):
        if not result.passed:
            wrong.setdefault(result.item_id, result)
    return wrong


async def _passed_before(
    workspace: Workspace, baseline: str, wrong: Mapping[str, ItemResult]
) -> dict[str, ItemResult]:
    """Those that the baseline ran and always passed."""
    failed_before, seen = set(), set()
    async for result in workspace.experiments.stream_results(baseline):
        seen.add(result.item_id)
        if not result.passed:
            failed_before.add(result.item_id)
    return {key: one for key, one in wrong.items() if key in seen - failed_before}


async def _baseline_of(workspace: Workspace, experiment: Experiment) -> str:
    run = experiment.optimization_id
    first = () if run is None else (await workspace.pages.trials(run, limit=1)).items
    if not first or first[0].number:
        raise UsageError(
            what="regressed items cannot be told",
            why="the experiment belongs to no optimization with a baseline, so there is nothing to "
            "compare with",
            fix="name baseline_experiment_id",
            code="no_baseline",
        )
    return first[0].experiment_id


async def _existing(
    workspace: Workspace, into: str | None
) -> tuple[dict[str, Item], dict[str, Mapping[str, Any]]]:
    if into is None:
        return {}, {}
    rows = {item.id: item async for item in workspace.datasets.stream_items(into)}
    return rows, await workspace.dataset_pages.origins(into)


async def _items(
    workspace: Workspace, experiment: Experiment, wrong: Mapping[str, ItemResult]
) -> AsyncIterator[Item]:
    if experiment.dataset_id is None:
        raise UsageError(
            what="the items cannot be saved",
            why=f"the rows of experiment {experiment.id} are not stored",
            fix="evaluate again, and name that experiment",
            code="no_dataset",
        )
    async for item in workspace.datasets.stream_items(experiment.dataset_id):
        if item.id in wrong:
            yield item


def _named_apart(item: Item, rows: Mapping[str, Item]) -> Item:
    """Other content under an id that is taken gets an id of its own."""
    if item.id not in rows:
        return item
    return Item(id=f"{item.id[:200]}-{item.hash[:8]}", data=item.data, split=item.split)


def _failed(score: Score) -> bool:
    return score.passed is False or (score.passed is None and score.value < 1)


def _origin(experiment: Experiment, item: Item, result: ItemResult, which: Which) -> dict[str, Any]:
    output = None if result.output is None else result.output.text[:_SHOWN]
    return {
        "which": which.value,
        "experiment_id": experiment.id,
        "optimization_id": experiment.optimization_id,
        "dataset_id": experiment.dataset_id,
        "item_id": item.id,
        "agent_name": experiment.agent_name,
        "failed": [one.name for one in result.scores if _failed(one)],
        "reason": complaint(result)[:_SHOWN],
        "configuration_hash": experiment.configuration.hash,
        "score": result.score,
        "output": output,
        "error": None if result.error is None else result.error.to_json(),
    }
