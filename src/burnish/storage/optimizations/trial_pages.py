"""Trials with their candidates, as pages, one by one, as a graph and as counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Double, Select, and_, bindparam, func, literal_column, select
from sqlalchemy.ext.asyncio import AsyncConnection

from burnish.domain import Candidate, ExperimentStatus, ExperimentType, TrialResult, UsageError
from burnish.domain.read_models import LineageNode, Page, RunCounts, TrialLine, TrialOrder
from burnish.storage.engine.bulk import as_stored, by_column, values_of
from burnish.storage.engine.codec import SafeText, decode_jsons, decode_texts
from burnish.storage.engine.listing import NO_SCORE, sorted_page
from burnish.storage.experiments.tables import experiment_items, experiments
from burnish.storage.optimizations.rows import read_candidates, read_trials
from burnish.storage.optimizations.tables import candidates, trials, validation_rejections

_trials, _candidates = trials.c, candidates.c
_of = bindparam("of_id", type_=SafeText)
_of_candidate = bindparam("of_candidate", type_=SafeText)
_its_candidate = and_(
    _candidates.optimization_id == _trials.optimization_id, _candidates.number == _trials.number
)
_its_trial = and_(
    _trials.optimization_id == _candidates.optimization_id,
    _trials.number == _candidates.number,
    _trials.slot == "",
)
_UNSHOWN = ("optimization_id", "mask_id")
_shown = [as_stored(column) for column in _trials if column.name not in _UNSHOWN]
_of_its_candidate = [
    as_stored(_candidates[name]) for name in ("step_index", "parent_candidate_ids", "rationale")
]
_line = select(*_shown, *_of_its_candidate).select_from(trials.join(candidates, _its_candidate))
_score: ColumnElement[float] = func.coalesce(_trials.objective_score, NO_SCORE, type_=Double())
_types = {one.value: one for one in ExperimentType}
_statuses = {one.value: one for one in ExperimentStatus}
_TEXTS = ("candidate_id", "experiment_id", "error", "rationale", "slot")

_nodes = (
    select(
        as_stored(_candidates.candidate_id),
        _candidates.number,
        _candidates.step_index,
        as_stored(_candidates.parent_candidate_ids),
        as_stored(_candidates.rationale),
        _trials.status,
        _trials.objective_score.label("score"),
        as_stored(_trials.experiment_id),
    )
    .select_from(candidates.outerjoin(trials, _its_trial))
    .where(_candidates.optimization_id == _of)
    .order_by(_candidates.number)
)
_UNREAD = ("optimization_id", "configuration_hash")
_one_candidate = select(
    *(as_stored(column) for column in _candidates if column.name not in _UNREAD)
).where(_candidates.optimization_id == _of, _candidates.candidate_id == _of_candidate)
_one_trial = (
    select(*(as_stored(column) for column in _trials if not column.primary_key))
    .where(_trials.optimization_id == _of, _trials.candidate_id == _of_candidate)
    .where(_trials.slot == "")
)

_is_own = experiments.c.optimization_id == _of
_is_baseline = _trials.number == literal_column("0")
_by_status = (
    select(_trials.type, _trials.status, _is_baseline.label("baseline"), func.count())
    .where(_trials.optimization_id == _of)
    .group_by(_trials.type, _trials.status, _is_baseline)
)
_sums = select(
    select(func.count()).where(_candidates.optimization_id == _of).scalar_subquery(),
    select(func.count()).where(validation_rejections.c.optimization_id == _of).scalar_subquery(),
    select(func.coalesce(func.sum(experiments.c.planned_items), 0))
    .where(_is_own)
    .scalar_subquery(),
    select(func.count())
    .select_from(
        experiments.join(experiment_items, experiment_items.c.experiment_id == experiments.c.id)
    )
    .where(_is_own)
    .scalar_subquery(),
)


def statement(
    optimization_id: str,
    *,
    statuses: Sequence[ExperimentStatus],
    mini_batches: bool,
    order: TrialOrder,
    limit: int,
    after: Sequence[Any] | None,
) -> Select[Any]:
    """What reads a page of trials."""
    wanted = _line.where(_trials.optimization_id == optimization_id)
    if not mini_batches:
        wanted = wanted.where(_trials.slot == "")
    if statuses:
        wanted = wanted.where(_trials.status.in_([one.value for one in statuses]))
    keys: list[ColumnElement[Any]] = [_trials.number, _trials.slot]
    if order in (TrialOrder.BEST_SCORE, TrialOrder.WORST_SCORE):
        keys = [_score, *keys]
    down = order.value.startswith("-")
    return sorted_page(wanted, keys, down=down, limit=limit, after=after)


async def page(
    connection: AsyncConnection, wanted: Select[Any], order: TrialOrder, limit: int
) -> Page[TrialLine]:
    """The trials of a page."""
    rows = (await connection.execute(wanted)).all()
    if not rows:
        return Page(items=())
    columns = by_column(rows)
    lines = values_of(
        TrialLine,
        len(rows),
        {
            **columns,
            **{name: decode_texts(columns[name]) for name in _TEXTS},
            "type": map(_types.__getitem__, columns["type"]),
            "status": map(_statuses.__getitem__, columns["status"]),
            "parent_candidate_ids": map(tuple, decode_jsons(columns["parent_candidate_ids"])),
        },
    )
    more = len(lines) > limit
    return Page(items=lines[:limit], next=_place(lines[limit - 1], order) if more else None)


def _place(last: TrialLine, order: TrialOrder) -> tuple[Any, ...]:
    place = (last.number, last.slot)
    if order in (TrialOrder.NUMBER, TrialOrder.NUMBER_DOWN):
        return place
    return (NO_SCORE if last.objective_score is None else last.objective_score, *place)


async def one(
    connection: AsyncConnection, optimization_id: str, candidate_id: str
) -> tuple[Candidate, TrialResult]:
    """A candidate and its trial."""
    bound = {"of_id": optimization_id, "of_candidate": candidate_id}
    found = read_candidates(
        optimization_id, (await connection.execute(_one_candidate, bound)).all()
    )
    ran = read_trials(optimization_id, (await connection.execute(_one_trial, bound)).all())
    if not found or not ran:
        raise UsageError(
            what=f"optimization {optimization_id} has no trial of {candidate_id!r}",
            why="no candidate of it has that id"
            if not found
            else "the candidate was only run on mini-batches so far",
            fix="take an id from its `/trials` or `/graph`",
            code="not_found",
        )
    return found[0], ran[0]


async def lineage(connection: AsyncConnection, optimization_id: str) -> list[LineageNode]:
    """Every candidate by number."""
    rows = (await connection.execute(_nodes, {"of_id": optimization_id})).all()
    if not rows:
        return []
    columns = by_column(rows)
    return values_of(
        LineageNode,
        len(rows),
        {
            **columns,
            "id": decode_texts(columns["candidate_id"]),
            "parent_candidate_ids": map(tuple, decode_jsons(columns["parent_candidate_ids"])),
            "rationale": decode_texts(columns["rationale"]),
            "experiment_id": decode_texts(columns["experiment_id"]),
            "status": map(_statuses.get, columns["status"]),
        },
    )


async def counts(connection: AsyncConnection, optimization_id: str) -> RunCounts:
    """How far an optimization has come."""
    bound = {"of_id": optimization_id}
    by_status: Counter[ExperimentStatus] = Counter()
    mini_batches = 0
    for kind, status, baseline, number in await connection.execute(_by_status, bound):
        if kind == ExperimentType.MINI_BATCH.value:
            mini_batches += number
        elif not baseline:
            by_status[ExperimentStatus(status)] += number
    sums = (await connection.execute(_sums, bound)).one()
    accepted, rejected, planned, finished = sums
    return RunCounts(
        trials=dict(by_status),
        mini_batches=mini_batches,
        candidates=accepted,
        rejections=rejected,
        planned_items=int(planned),
        finished_items=finished,
    )
