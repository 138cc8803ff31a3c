"""Reads what a report needs from the repositories."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any

from burnish.app.report.html.item_reading import read_comparison
from burnish.app.report.html.material import EventTally, Material
from burnish.app.report.html.prompt_size import prompt_tokens
from burnish.app.report.html.refinement import read_refinement
from burnish.app.wiring import Workspace
from burnish.domain import (
    Event,
    EventType,
    ExperimentType,
    OptimizationRecord,
    OptimizationRepository,
    Spending,
    TrialResult,
)

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
