"""Reader of what a report needs from the repositories, item changes included."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any

from burnish.app.report.html.material import (
    Change,
    EventTally,
    ItemChange,
    ItemComparison,
    Material,
    Side,
    prompt_tokens,
)
from burnish.app.report.html.refinement import read_refinement
from burnish.app.wiring import Workspace
from burnish.domain import (
    Event,
    EventType,
    ExperimentType,
    ItemResult,
    Json,
    OptimizationRecord,
    OptimizationRepository,
    Spending,
    TrialResult,
    UsageError,
)
from burnish.evaluation.scorers.tool_calls import DEFAULT_CALLS, READS_CALLS

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


_EVENTS_A_PAGE = 5_000
_MAX_STATUSES = 50


async def read_material(workspace: Workspace, optimization_id: str) -> Material:
    """The material of a report, whatever state the optimization is in."""
    repository = workspace.optimizations
    record = await repository.get_optimization(optimization_id)
    candidates = await repository.list_candidates(optimization_id)
    known = {one.id for one in candidates}
    trials: dict[str, TrialResult] = {}
    mini_batches: dict[str, list[TrialResult]] = {}
    for one in await repository.list_trials(optimization_id, mini_batches=True):
        if one.candidate_id not in known:
            continue
        if one.type is ExperimentType.TRIAL:
            trials[one.candidate_id] = one
        else:
            mini_batches.setdefault(one.candidate_id, []).append(one)
    facts: dict[str, Any] = {
        "record": record,
        "candidates": candidates,
        "trials": trials,
        "mini_batches": mini_batches,
        "rejections": await repository.list_rejections(optimization_id),
        "events": await _tally(repository, optimization_id),
        "spending": await _spending(workspace, record),
        "tokens": await asyncio.to_thread(prompt_tokens, candidates),
        "expected_fields": tuple(dict.fromkeys(expected_fields(record.spec))),
    }
    plain = Material(**facts)
    return Material(
        **facts,
        items=await read_comparison(workspace, plain),
        refined=await read_refinement(workspace, plain),
    )


def expected_fields(spec: Any) -> Iterator[str]:
    """The fields that the suite's scorers compare with, where a stored spec names them."""
    if isinstance(spec, Mapping):
        for key, value in spec.items():
            if key == "scorers" and isinstance(value, (list, tuple)):
                yield from _named_fields(value)
            else:
                yield from expected_fields(value)


def _named_fields(scorers: Sequence[Any]) -> Iterator[str]:
    for scorer in scorers:
        if isinstance(scorer, Mapping) and isinstance(scorer.get("field"), str):
            yield scorer["field"]
        elif (scorer.get("kind") if isinstance(scorer, Mapping) else scorer) in READS_CALLS:
            yield DEFAULT_CALLS


async def _spending(workspace: Workspace, record: OptimizationRecord) -> Spending:
    """As the result has it; before there is one, what the database knows so far."""
    if record.result is not None:
        return Spending.of(record.result.get("usage", {}).get("by_purpose", {}))
    own = (record.checkpoint or {}).get("own_spending") or {}
    return Spending.of(own) + await workspace.experiments.spending_of(record.id)


async def _tally(repository: OptimizationRepository, optimization_id: str) -> EventTally:
    counts: dict[str, int] = {}
    first: dict[str, str] = {}
    last: dict[str, str] = {}
    statuses: list[tuple[str, str]] = []
    evaluations: int | None = None
    async for event in _events(repository, optimization_id):
        kind = event.type.value
        counts[kind] = counts.get(kind, 0) + 1
        first.setdefault(kind, event.created_at)
        last[kind] = event.created_at
        if event.type is EventType.RUN_STATUS_CHANGED:
            statuses.append((event.created_at, str(event.payload.get("status"))))
        elif event.type is EventType.PROGRESS_CHANGED:
            evaluations = event.payload.get("evaluations", evaluations)
    return EventTally(
        counts=counts,
        first=first,
        last=last,
        statuses=tuple(statuses[-_MAX_STATUSES:]),
        evaluations=evaluations,
    )


async def _events(repository: OptimizationRepository, optimization_id: str) -> AsyncIterator[Event]:
    last = 0
    while True:
        page = await repository.list_events(optimization_id, after=last, limit=_EVENTS_A_PAGE)
        for event in page:
            yield event
        if len(page) < _EVENTS_A_PAGE:
            return
        last = page[-1].sequence
