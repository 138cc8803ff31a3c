"""Reads parts of optimizations for pages: lists, trials, rejections, lineage and counts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Double, func, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from burnish.domain import (
    Candidate,
    ExperimentStatus,
    OptimizationRecord,
    OptimizationStatus,
    Rejection,
    TrialResult,
)
from burnish.domain.read_models import (
    ItemFilter,
    ItemLine,
    LineageNode,
    OptimizationFilter,
    OptimizationOrder,
    Page,
    RunCounts,
    TrialLine,
    TrialOrder,
)
from burnish.storage.engine.database import Database
from burnish.storage.engine.listing import NO_SCORE, holds_text, sorted_page, starts_with_text
from burnish.storage.experiments import item_pages
from burnish.storage.jobs import leases
from burnish.storage.optimizations import trial_pages
from burnish.storage.optimizations.reader import SHOWN
from burnish.storage.optimizations.rows import read_record, read_rejections
from burnish.storage.optimizations.tables import optimizations, validation_rejections

T = TypeVar("T")

_columns, _refused = optimizations.c, validation_rejections.c
_score: ColumnElement[float] = func.coalesce(_columns.best_score, NO_SCORE, type_=Double())
_ORDERS: dict[str, ColumnElement[Any]] = {
    "created_at": _columns.created_at,
    "updated_at": _columns.updated_at,
    "best_score": _score,
    "name": _columns.name,
}
_EXACT = {"agent": _columns.agent_name, "suite": _columns.suite_name}
_SEARCHED = (_columns.name, *_EXACT.values(), _columns.optimizer_name)
_statuses = select(_columns.status, func.count()).group_by(_columns.status)


class SqlOptimizationPages:
    """OptimizationPages on an open database."""

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
        """A page of the list."""
        name = order.value.removeprefix("-")
        keys = [_ORDERS[name], _columns.id]
        statement = sorted_page(
            select(*SHOWN).where(*_conditions(wanted)),
            keys,
            down=order.value.startswith("-"),
            limit=limit,
            after=after,
        )

        async def work(connection: AsyncConnection) -> list[OptimizationRecord]:
            return [read_record(row) for row in await connection.execute(statement)]

        found = await self._database.read(work)
        more = len(found) > limit
        return Page(items=found[:limit], next=_place(found[limit - 1], name) if more else None)

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
        """A page of trials."""
        statement = trial_pages.statement(
            optimization_id,
            statuses=statuses,
            mini_batches=mini_batches,
            order=order,
            limit=limit,
            after=after,
        )
        return await self._of(
            optimization_id,
            lambda connection: trial_pages.page(connection, statement, order, limit),
        )

    async def trial(self, optimization_id: str, candidate_id: str) -> tuple[Candidate, TrialResult]:
        """One candidate's trial."""
        return await self._of(
            optimization_id,
            lambda connection: trial_pages.one(connection, optimization_id, candidate_id),
        )

    async def rejections(
        self, optimization_id: str, *, limit: int = 50, after: Sequence[Any] | None = None
    ) -> Page[Rejection]:
        """A page of rejections."""
        columns = [column for column in _refused if not column.primary_key]
        statement = sorted_page(
            select(*columns, _refused.position).where(_refused.optimization_id == optimization_id),
            [_refused.position],
            down=False,
            limit=limit,
            after=after,
        )

        async def work(connection: AsyncConnection) -> Page[Rejection]:
            rows = (await connection.execute(statement)).all()
            place = (rows[limit - 1].position,) if len(rows) > limit else None
            return Page(items=read_rejections(row[:-1] for row in rows[:limit]), next=place)

        return await self._of(optimization_id, work)

    async def items(
        self,
        experiment_id: str,
        *,
        wanted: ItemFilter | None = None,
        limit: int = 50,
        after: Sequence[Any] | None = None,
    ) -> Page[ItemLine]:
        """A page of an experiment's items."""
        statement = item_pages.statement(
            experiment_id, wanted or ItemFilter(), limit=limit, after=after
        )
        return await self._database.read(
            lambda connection: item_pages.page(connection, experiment_id, statement, limit)
        )

    async def lineage(self, optimization_id: str) -> list[LineageNode]:
        """Every candidate by number."""
        return await self._of(
            optimization_id, lambda connection: trial_pages.lineage(connection, optimization_id)
        )

    async def counts(self, optimization_id: str) -> RunCounts:
        """How far it has come."""
        return await self._database.read(
            lambda connection: trial_pages.counts(connection, optimization_id)
        )

    async def status_counts(self) -> dict[OptimizationStatus, int]:
        """How many there are of each status."""

        async def work(connection: AsyncConnection) -> dict[OptimizationStatus, int]:
            rows = await connection.execute(_statuses)
            return {OptimizationStatus(status): number for status, number in rows}

        return await self._database.read(work)

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


def _place(last: OptimizationRecord, name: str) -> tuple[Any, ...]:
    value = getattr(last, name)
    return (NO_SCORE if value is None else value, last.id)
