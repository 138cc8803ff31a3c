"""Pages of optimizations: lists, trials, rejections, items, lineage and counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from sqlalchemy import (
    ColumnElement,
    Double,
    Select,
    and_,
    bindparam,
    func,
    literal_column,
    or_,
    select,
)

from burnish.domain import (
    Candidate,
    ExperimentStatus,
    ExperimentType,
    OptimizationRecord,
    OptimizationStatus,
    Rejection,
    TrialResult,
    UsageError,
)
from burnish.domain.optimizations.pages import (
    ItemFilter,
    ItemLine,
    LineageNode,
    OptimizationFilter,
    OptimizationOrder,
    RunCounts,
    TrialLine,
    TrialOrder,
)
from burnish.domain.pages import Page
from burnish.storage.engine.bulk import as_stored, by_column, value_of, values_of
from burnish.storage.engine.codec import SafeText, decode_jsons, decode_texts
from burnish.storage.engine.connections import AsyncConnection
from burnish.storage.engine.database import Database
from burnish.storage.engine.listing import (
    NO_SCORE,
    holds_text,
    page_of,
    sorted_page,
    starts_with_text,
)
from burnish.storage.experiments import item_pages
from burnish.storage.experiments.tables import experiment_items, experiments
from burnish.storage.jobs import leases
from burnish.storage.optimizations.rows import (
    LINE_COLUMNS,
    ONE_CANDIDATE,
    RECORD_COLUMNS,
    TRIAL_COLUMNS,
    TRIALS_OF_CANDIDATES,
    read_candidates,
    read_lines,
    read_record,
    read_trials,
)
from burnish.storage.optimizations.tables import (
    candidates,
    optimizations,
    trials,
    validation_rejections,
)

T = TypeVar("T")

_columns, _refused = optimizations.c, validation_rejections.c
_record_score: ColumnElement[float] = func.coalesce(_columns.best_score, NO_SCORE, type_=Double())
_ORDERS: dict[str, ColumnElement[Any]] = {
    "created_at": _columns.created_at,
    "updated_at": _columns.updated_at,
    "best_score": _record_score,
    "name": _columns.name,
}
_EXACT = {"agent": _columns.agent_name, "suite": _columns.suite_name}
_SEARCHED = (_columns.name, *_EXACT.values(), _columns.optimizer_name)
_status_counts = select(_columns.status, func.count()).group_by(_columns.status)

_trials, _candidates = trials.c, candidates.c
_of = bindparam("of_id", type_=SafeText)
_of_candidate = bindparam("of_candidate", type_=SafeText)
_its_trial = and_(
    _trials.optimization_id == _candidates.optimization_id,
    _trials.number == _candidates.number,
    _trials.slot == "",
)
_line = select(*LINE_COLUMNS).select_from(TRIALS_OF_CANDIDATES)
_trial_score: ColumnElement[float] = func.coalesce(
    _trials.objective_score, NO_SCORE, type_=Double()
)
_statuses = {one.value: one for one in ExperimentStatus}

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
_one_trial = (
    select(*TRIAL_COLUMNS)
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


class SqlOptimizationPages:
    """Reads parts of optimizations, in time that grows with the part and not with the whole.

    Pages go on where `after` says, which is the `next` of the page before. A page is right even
    when rows came in meanwhile: none is shown twice, and none that was there is left out.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def optimizations(
        self,
        wanted: OptimizationFilter,
        *,
        order: OptimizationOrder = OptimizationOrder.NEWEST,
        limit: int = 50,
        after: Sequence[Any] | None = None,
    ) -> Page[OptimizationRecord]:
        """Without spec, checkpoint and result."""
        name = order.value.removeprefix("-")
        keys = [_ORDERS[name], _columns.id]
        statement = sorted_page(
            select(*RECORD_COLUMNS).where(*_conditions(wanted)),
            keys,
            down=order.value.startswith("-"),
            limit=limit,
            after=after,
        )
        rows = await self._database.all_rows(statement)
        page = page_of(rows, limit, read_record, name, "id")
        if page.next is not None and page.next[0] is None:
            return replace(page, next=(NO_SCORE, *page.next[1:]))
        return page

    async def trials(
        self,
        optimization_id: str,
        *,
        statuses: Sequence[ExperimentStatus] = (),
        mini_batches: bool = False,
        order: TrialOrder = TrialOrder.NUMBER,
        limit: int = 50,
        after: Sequence[Any] | None = None,
    ) -> Page[TrialLine]:
        """The baseline is number 0."""
        shown = _line.where(_trials.optimization_id == optimization_id)
        if not mini_batches:
            shown = shown.where(_trials.slot == "")
        if statuses:
            shown = shown.where(_trials.status.in_([one.value for one in statuses]))
        keys: list[ColumnElement[Any]] = [_trials.number, _trials.slot]
        if order in (TrialOrder.BEST_SCORE, TrialOrder.WORST_SCORE):
            keys = [_trial_score, *keys]
        down = order.value.startswith("-")
        statement = sorted_page(shown, keys, down=down, limit=limit, after=after)
        return await self._of(
            optimization_id,
            lambda connection: _trial_page(connection, statement, order, limit),
        )

    async def trial(self, optimization_id: str, candidate_id: str) -> tuple[Candidate, TrialResult]:
        """One candidate's trial; UsageError with code `not_found` when there is none."""
        return await self._of(
            optimization_id,
            lambda connection: _candidate_with_trial(connection, optimization_id, candidate_id),
        )

    async def rejections(
        self, optimization_id: str, *, limit: int = 50, after: Sequence[Any] | None = None
    ) -> Page[Rejection]:
        """In the order they were made."""
        wanted = select(validation_rejections).where(_refused.optimization_id == optimization_id)
        statement = sorted_page(wanted, [_refused.position], down=False, limit=limit, after=after)

        async def work(connection: AsyncConnection) -> Page[Rejection]:
            rows = (await connection.execute(statement)).all()
            return page_of(rows, limit, lambda row: value_of(Rejection, row), "position")

        return await self._of(optimization_id, work)

    async def items(
        self,
        experiment_id: str,
        *,
        wanted: ItemFilter | None = None,
        limit: int = 50,
        after: Sequence[Any] | None = None,
    ) -> Page[ItemLine]:
        """By item id and repeat."""
        statement = item_pages.statement(
            experiment_id, wanted or ItemFilter(), limit=limit, after=after
        )
        return await self._database.read(
            lambda connection: item_pages.page(connection, experiment_id, statement, limit)
        )

    async def lineage(self, optimization_id: str) -> list[LineageNode]:
        """Every candidate by number."""
        return await self._of(
            optimization_id, lambda connection: _lineage(connection, optimization_id)
        )

    async def counts(self, optimization_id: str) -> RunCounts:
        """How far it has come."""
        return await self._database.read(lambda connection: _counts(connection, optimization_id))

    async def status_counts(self) -> dict[OptimizationStatus, int]:
        """How many optimizations there are of each status."""
        rows = await self._database.all_rows(_status_counts)
        return {OptimizationStatus(status): number for status, number in rows}

    async def _of(self, optimization_id: str, work: Callable[[AsyncConnection], Awaitable[T]]) -> T:
        """The work's result; it is no use to show nothing of what does not exist."""

        async def checked(connection: AsyncConnection) -> T:
            known = select(_columns.id).where(_columns.id == optimization_id)
            if await connection.scalar(known) is None:
                raise leases.not_found(optimization_id)
            return await work(connection)

        return await self._database.read(checked)


def _conditions(wanted: OptimizationFilter) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if wanted.statuses:
        found.append(_columns.status.in_([one.value for one in wanted.statuses]))
    for name, column in {**_EXACT, "optimizer": _columns.optimizer_name}.items():
        value = getattr(wanted, name)
        if value is not None:
            found.append(column == value)
    if wanted.name:
        found.append(holds_text(_columns.name, wanted.name))
    if wanted.text:
        anywhere = [holds_text(one, wanted.text) for one in _SEARCHED]
        found.append(or_(*anywhere, starts_with_text(_columns.id, wanted.text)))
    return found


async def _trial_page(
    connection: AsyncConnection, wanted: Select[Any], order: TrialOrder, limit: int
) -> Page[TrialLine]:
    """The trials of a page."""
    rows = (await connection.execute(wanted)).all()
    lines = read_lines(TrialLine, rows)
    more = len(lines) > limit
    return Page(items=lines[:limit], next=_trial_place(lines[limit - 1], order) if more else None)


def _trial_place(last: TrialLine, order: TrialOrder) -> tuple[Any, ...]:
    place = (last.number, last.slot)
    if order in (TrialOrder.NUMBER, TrialOrder.NUMBER_DOWN):
        return place
    return (NO_SCORE if last.objective_score is None else last.objective_score, *place)


async def _candidate_with_trial(
    connection: AsyncConnection, optimization_id: str, candidate_id: str
) -> tuple[Candidate, TrialResult]:
    """A candidate and its trial."""
    bound = {"of_id": optimization_id, "of_candidate": candidate_id}
    found = read_candidates(optimization_id, (await connection.execute(ONE_CANDIDATE, bound)).all())
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


async def _lineage(connection: AsyncConnection, optimization_id: str) -> list[LineageNode]:
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


async def _counts(connection: AsyncConnection, optimization_id: str) -> RunCounts:
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
