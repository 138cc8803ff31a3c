"""A run with the item it ran on, streamed in the dataset's order."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from burnish.app.evaluate.result import refinement_json, round_json
from burnish.app.wiring import Workspace
from burnish.domain import Experiment, Item, ItemResult, Json, Round
from burnish.evaluation.suite import assign_splits
from burnish.support.sync_calls import run_sync

_BATCH = 500


@dataclass(frozen=True, slots=True)
class Record:
    """One run and its item's fields."""

    result: ItemResult
    fields: Mapping[str, Json]
    split: str | None = None
    rounds: tuple[Round, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Everything that is known of the run."""
        result = self.result
        output = result.output
        return {
            "item_id": result.item_id,
            "repeat": result.repeat,
            "split": self.split,
            "input": dict(self.fields),
            "output": None if output is None else output.text,
            "data": None if output is None else output.data,
            "trace": None if output is None else output.trace,
            "finish_reason": None if output is None else output.finish_reason,
            "score": result.score,
            "passed": result.passed,
            "scores": [score.to_json() for score in result.scores],
            "error": None if result.error is None else result.error.to_json(),
            "latency_ms": result.latency_ms,
            "cached": result.cached,
            "usage": result.spending.to_json(),
            **self._refinement(),
        }

    def row(self) -> dict[str, Any]:
        """The same for Python, with why it was scored so and what was paid now, at hand."""
        result = self.result
        reasons = [f"{one.name}: {one.reason}" for one in result.scores if one.reason]
        told = reasons[0].partition(": ")[2] if len(reasons) == 1 else "; ".join(reasons)
        known = result.footprint.by_purpose or result.spending.by_purpose  # Some report no usage.
        return {
            "id": result.item_id,
            "rounds": [],
            **self.to_json(),
            "reason": told or (None if result.error is None else result.error.message),
            "cost_usd": result.spending.total.cost_usd if known else None,
        }

    def _refinement(self) -> dict[str, Any]:
        """Nothing where the output was not judged in rounds."""
        if self.result.refinement is None:
            return {}
        return {
            "refinement": refinement_json(self.result.refinement),
            "rounds": [round_json(one) for one in self.rounds],
        }


def complaint(result: ItemResult) -> str:
    """Why a run did not pass: its error, or the first scorer's reason."""
    if result.error is not None:
        return f"{result.error.kind.value} error: {result.error.message}"
    reasons = [score.reason for score in result.scores if score.reason]
    return reasons[0] if reasons else ""


def read_rows(location: str, experiment_id: str, most: int | None = None) -> list[dict[str, Any]]:
    """The runs of a stored experiment, all or as many as are wanted."""

    async def read() -> list[dict[str, Any]]:
        async with Workspace.open(location) as workspace:
            experiment = await workspace.experiments.get_experiment(experiment_id)
            found: list[dict[str, Any]] = []
            async for one in stream_records(workspace, experiment):
                if most is not None and len(found) >= most:
                    break
                found.append(one.row())
            return found

    return run_sync(read())


async def stream_records(workspace: Workspace, experiment: Experiment) -> AsyncIterator[Record]:
    """All runs of an experiment; a batch of items at a time is in memory."""
    if experiment.dataset_id is None:
        async for result in workspace.experiments.stream_results(experiment.id):
            rounds = await _rounds(workspace, experiment.id, [result])
            yield Record(result, {}, rounds=rounds.get((result.item_id, result.repeat), ()))
        return
    splits = await _splits(workspace, experiment)
    batch: list[Item] = []
    async for item in workspace.datasets.stream_items(experiment.dataset_id):
        batch.append(item)
        if len(batch) == _BATCH:
            for record in await _joined(workspace, experiment.id, batch, splits):
                yield record
            batch = []
    for record in await _joined(workspace, experiment.id, batch, splits):
        yield record


async def _splits(workspace: Workspace, experiment: Experiment) -> Mapping[str, str]:
    """The split of each item as the suite makes it; empty where it makes none, or rows name theirs."""
    policy: Mapping[str, Any] = experiment.metadata.get("policy") or {}
    split, dataset = policy.get("split"), experiment.dataset_id
    if not isinstance(split, Mapping) or dataset is None:
        return {}
    items = [item async for item in workspace.datasets.stream_items(dataset)]
    field = policy.get("stratify_by")
    return assign_splits(items, split, seed=int(policy.get("split_seed") or 0), stratify_by=field)


async def _joined(
    workspace: Workspace, experiment_id: str, batch: list[Item], splits: Mapping[str, str]
) -> list[Record]:
    if not batch:
        return []
    items = {item.id: item for item in batch}
    order = {item.id: place for place, item in enumerate(batch)}
    results = await workspace.experiments.get_results(experiment_id, item_ids=list(items))
    results.sort(key=lambda result: (order[result.item_id], result.repeat))
    rounds = await _rounds(workspace, experiment_id, results)
    return [
        Record(
            result,
            items[result.item_id].data,
            splits.get(result.item_id, items[result.item_id].split),
            rounds.get((result.item_id, result.repeat), ()),
        )
        for result in results
    ]


async def _rounds(
    workspace: Workspace, experiment_id: str, results: Sequence[ItemResult]
) -> dict[tuple[str, int], tuple[Round, ...]]:
    refined = [one.item_id for one in results if one.refinement is not None]
    if not refined:
        return {}
    return await workspace.experiments.get_rounds(experiment_id, item_ids=refined)
