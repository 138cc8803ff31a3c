"""Overviews of optimizations: a little of many, and every experiment of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from sqlalchemy import ColumnElement, bindparam, func, select

from burnish.domain import (
    Candidate,
    Event,
    EventType,
    ExperimentStatus,
    ExperimentType,
    UsageError,
)
from burnish.domain.optimizations.pages import (
    HeldOutRun,
    RunFacets,
    RunPoint,
    RunSpan,
    ScoreMoments,
)
from burnish.storage.engine.bulk import rows_of_many, value_of
from burnish.storage.engine.codec import SafeText
from burnish.storage.engine.connections import AsyncConnection
from burnish.storage.engine.database import Database
from burnish.storage.experiments.summaries import ANSWERED
from burnish.storage.experiments.tables import experiment_items, experiments
from burnish.storage.optimizations.rows import (
    LINE_COLUMNS,
    ONE_CANDIDATE,
    TRIALS_OF_CANDIDATES,
    read_candidates,
    read_lines,
)
from burnish.storage.optimizations.tables import (
    optimization_documents,
    optimization_events,
    optimizations,
    trials,
)

_columns, _documents, _events = optimizations.c, optimization_documents.c, optimization_events.c
_items, _experiments = experiment_items.c, experiments.c
_of_many = bindparam("ids", type_=SafeText, expanding=True)
_CONFIRMATION = "confirmation"


def _moment(order: ColumnElement[Any]) -> ColumnElement[Any]:
    """When an end of the events was: a step along the primary key."""
    return (
        select(_events.created_at)
        .where(_events.optimization_id == _columns.id)
        .order_by(order)
        .limit(1)
        .scalar_subquery()
    )


_ends = select(
    _columns.id,
    _moment(_events.sequence.asc()).label("first_event_at"),
    _moment(_events.sequence.desc()).label("last_event_at"),
).where(_columns.id.in_(_of_many))
_document = select(_documents.optimization_id, _documents.document).where(
    _documents.optimization_id.in_(_of_many), _documents.name == bindparam("of_name")
)
_item_means = (
    select(
        _items.experiment_id.label("experiment_id"),
        func.avg(_items.score).label("score"),
    )
    .where(_items.experiment_id.in_(_of_many), ANSWERED)
    .group_by(_items.experiment_id, _items.item_id)
    .subquery()
)
_moments = select(
    _item_means.c.experiment_id,
    func.count().label("items"),
    func.avg(_item_means.c.score).label("mean"),
    func.avg(_item_means.c.score * _item_means.c.score).label("mean_square"),
).group_by(_item_means.c.experiment_id)
_regular = (
    select(
        _experiments.id,
        _experiments.metadata,
        _experiments.status,
        _experiments.created_at,
        _experiments.updated_at,
    )
    .where(
        _experiments.optimization_id == bindparam("of_id", type_=SafeText),
        _experiments.type == ExperimentType.REGULAR.value,
    )
    .order_by(_experiments.created_at, _experiments.id)
)

_trials = trials.c
_points = (
    select(*LINE_COLUMNS, _experiments.created_at, _experiments.updated_at)
    .select_from(
        TRIALS_OF_CANDIDATES.outerjoin(experiments, _experiments.id == _trials.experiment_id)
    )
    .where(_trials.optimization_id == bindparam("of_id", type_=SafeText))
    .order_by(_trials.number, _trials.slot)
)
_points_of_candidate = _points.where(
    _trials.candidate_id == bindparam("of_candidate", type_=SafeText)
)


class SqlRunInsights:
    """Reads overviews. Of what does not exist there is nothing."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def spans(self, optimization_ids: Sequence[str]) -> dict[str, RunSpan]:
        """When each began and ended, by id."""
        rows = await self._database.read(
            lambda connection: rows_of_many(connection, _ends, "ids", optimization_ids)
        )
        return {row.id: value_of(RunSpan, row) for row in rows}

    async def documents(
        self, optimization_ids: Sequence[str], name: Literal["result", "checkpoint"]
    ) -> dict[str, Mapping[str, Any]]:
        """The results or checkpoints of those that have one, by id."""
        rows = await self._database.read(
            lambda connection: rows_of_many(
                connection, _document, "ids", optimization_ids, of_name=name
            )
        )
        return {row.optimization_id: row.document for row in rows}

    async def facets(self) -> RunFacets:
        """What lists can be filtered by."""

        async def counts(connection: AsyncConnection, column: ColumnElement[str]) -> dict[str, int]:
            rows = await connection.execute(
                select(column, func.count()).group_by(column).order_by(column)
            )
            return {row[0]: row[1] for row in rows}

        async def work(connection: AsyncConnection) -> RunFacets:
            return RunFacets(
                statuses=await counts(connection, _columns.status),
                agents=await counts(connection, _columns.agent_name),
                suites=await counts(connection, _columns.suite_name),
                optimizers=await counts(connection, _columns.optimizer_name),
            )

        return await self._database.read(work)

    async def candidate(self, optimization_id: str, candidate_id: str) -> Candidate:
        """One candidate, run or not; UsageError with code `not_found` when there is none."""
        bound = {"of_id": optimization_id, "of_candidate": candidate_id}
        rows = await self._database.all_rows(ONE_CANDIDATE, bound)
        if not rows:
            raise UsageError(
                what=f"optimization {optimization_id} has no candidate {candidate_id!r}",
                why="no candidate of it has that id",
                fix="take an id from its `/points` or `/graph`",
                code="not_found",
            )
        return read_candidates(optimization_id, rows)[0]

    async def points(
        self, optimization_id: str, *, candidate_id: str | None = None
    ) -> list[RunPoint]:
        """Every trial and mini-batch by number, a trial before the mini-batches of its candidate.

        With a candidate, only those of it.
        """
        bound = {"of_id": optimization_id}
        if candidate_id is None:
            rows = await self._database.all_rows(_points, bound)
        else:
            bound["of_candidate"] = candidate_id
            rows = await self._database.all_rows(_points_of_candidate, bound)
        return read_lines(RunPoint, rows)

    async def score_moments(self, experiment_ids: Sequence[str]) -> dict[str, ScoreMoments]:
        """How scores spread over items, by experiment; repeats count as their mean."""
        rows = await self._database.read(
            lambda connection: rows_of_many(connection, _moments, "ids", experiment_ids)
        )
        return {row.experiment_id: value_of(ScoreMoments, row) for row in rows}

    async def held_out(self, optimization_id: str) -> list[HeldOutRun]:
        """The experiments that confirmed candidates, the oldest first."""
        return [
            value_of(
                HeldOutRun,
                row,
                experiment_id=row.id,
                candidate_id=row.metadata["candidate_id"],
                status=ExperimentStatus(row.status),
            )
            for row in await self._database.all_rows(_regular, {"of_id": optimization_id})
            if row.metadata.get("role") == _CONFIRMATION and "candidate_id" in row.metadata
        ]

    async def events(
        self,
        optimization_id: str,
        *,
        types: Sequence[EventType] = (),
        newest: bool = False,
        limit: int = 50,
        after: int | None = None,
    ) -> list[Event]:
        """Events past a number; with `newest`, the newest first and those before it."""
        wanted = select(optimization_events).where(_events.optimization_id == optimization_id)
        if types:
            wanted = wanted.where(_events.type.in_([one.value for one in types]))
        if after is not None:
            wanted = wanted.where(_events.sequence < after if newest else _events.sequence > after)
        order = _events.sequence.desc() if newest else _events.sequence.asc()
        rows = await self._database.all_rows(wanted.order_by(order).limit(limit))
        return [value_of(Event, row, type=EventType(row.type)) for row in rows]
