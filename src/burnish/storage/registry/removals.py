"""Removals of agents, suites, optimizers and datasets: each refused while something still uses it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, and_, bindparam, delete, select, update

from burnish.domain import ConflictError, ExperimentStatus, OptimizationStatus
from burnish.domain.registry import ObjectKind, ObjectVersion
from burnish.storage.engine.codec import SafeText
from burnish.storage.engine.connections import AsyncConnection
from burnish.storage.engine.database import Database
from burnish.storage.experiments.datasets import require_dataset
from burnish.storage.experiments.tables import (
    dataset_items,
    dataset_origins,
    datasets,
    experiments,
)
from burnish.storage.labels.tables import label_sets, label_versions
from burnish.storage.optimizations.tables import optimizations
from burnish.storage.registry.tables import agents, object_versions, objects, optimizer_runs

_heads, _rows = objects.c, object_versions.c
_of_id = bindparam("of_id", type_=SafeText)
_of_name = bindparam("of_name", type_=SafeText)
_open_run = optimizations.c.status.in_([one.value for one in OptimizationStatus if not one.final])
_open_experiment = experiments.c.status.in_(
    [one.value for one in ExperimentStatus if not one.final]
)
_lock = select(_heads.id).where(_heads.id == _of_id).with_for_update()
# Versions stay, as runs of the past name them; without an active one the object is not found.
_retire = update(objects).where(_heads.id == _of_id).values(active_version=0)
_retire_agent = update(agents).where(agents.c.name == _of_name).values(active_version=0)
_documents = (
    select(_heads.name, _rows.document)
    .join_from(objects, object_versions)
    .where(_heads.kind == bindparam("of_kind"), _rows.version == _heads.active_version)
)
_optimizers_of = select(_heads.name).where(
    _heads.kind == ObjectKind.AGENT_OPTIMIZER.value,
    _heads.scope == _of_name,
    _heads.active_version > 0,
)
_running_optimizer = (
    select(optimizer_runs.c.id)
    .join_from(optimizer_runs, optimizations, optimizations.c.id == optimizer_runs.c.id)
    .where(optimizer_runs.c.optimizer_id == _of_id, _open_run)
)
_labelled = (
    select(label_sets.c.name)
    .join_from(label_sets, label_versions)
    .where(label_versions.c.dataset_id == _of_id)
    .limit(1)
)


def _unended(agent: bool) -> Sequence[Any]:
    """Runs and evaluations that have not ended, of an agent or of a suite."""
    found = []
    for table, is_open in ((optimizations, _open_run), (experiments, _open_experiment)):
        owner: ColumnElement[str] = table.c.agent_name if agent else table.c.suite_name
        found.append(select(table.c.name).where(and_(owner == _of_name, is_open)).limit(1))
    return found


class SqlRemovals:
    """Takes things away that nothing uses any more; ConflictError `in_use` names what does."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def agent(self, stored: ObjectVersion) -> None:
        """An agent without optimizers, runs and evaluations that have not ended."""

        async def check(connection: AsyncConnection, bound: Mapping[str, str]) -> str | None:
            optimizer = await connection.scalar(_optimizers_of, bound)
            if optimizer is not None:
                return f"the optimizer {optimizer!r} is of this agent"
            return await _unended_of(connection, bound, agent=True)

        await self._retire(stored, check, with_versions=True)

    async def suite(self, stored: ObjectVersion) -> None:
        """A suite that no optimizer names and that nothing runs on."""

        async def check(connection: AsyncConnection, bound: Mapping[str, str]) -> str | None:
            found = await _naming(
                connection, ObjectKind.AGENT_OPTIMIZER, lambda one: one.get("suite_id") == stored.id
            )
            if found is not None:
                return f"the optimizer {found!r} runs on it"
            return await _unended_of(connection, bound, agent=False)

        await self._retire(stored, check)

    async def optimizer(self, stored: ObjectVersion) -> None:
        """An optimizer of which no run goes on."""

        async def check(connection: AsyncConnection, bound: Mapping[str, str]) -> str | None:
            run = await connection.scalar(_running_optimizer, bound)
            return None if run is None else f"its run {run} has not ended"

        await self._retire(stored, check)

    async def dataset(self, dataset_id: str, reference: str) -> None:
        """A dataset that no suite names (by its reference) and no result belongs to, with its rows."""

        async def work(connection: AsyncConnection) -> None:
            record = await require_dataset(connection, dataset_id)
            suite = await _naming(
                connection, ObjectKind.SUITE, lambda one: one.get("dataset") == reference
            )
            if suite is not None:
                raise _in_use(
                    "dataset", record.name, f"the suite {suite!r} takes its items from it"
                )
            labelled = await connection.scalar(_labelled, {"of_id": dataset_id})
            if labelled is not None:
                why = f"it is a version of the label set {labelled!r}"
                raise _in_use("dataset", record.name, why)
            for table, noun in ((optimizations, "run"), (experiments, "evaluation")):
                user = await connection.scalar(
                    select(table.c.name).where(table.c.dataset_id == dataset_id).limit(1)
                )
                if user is not None:
                    why = f"results of the {noun} {user!r} belong to its items"
                    raise _in_use("dataset", record.name, why)
            for table in (dataset_origins, dataset_items):
                await connection.execute(delete(table).where(table.c.dataset_id == dataset_id))
            await connection.execute(delete(datasets).where(datasets.c.id == dataset_id))

        await self._database.write(work)

    async def _retire(
        self, stored: ObjectVersion, check: Any, *, with_versions: bool = False
    ) -> None:
        bound = {"of_id": stored.id, "of_name": stored.name}

        async def work(connection: AsyncConnection) -> None:
            await connection.execute(_lock, bound)
            why = await check(connection, bound)
            if why is not None:
                raise _in_use(stored.kind.value.replace("agent_", ""), stored.name, why)
            await connection.execute(_retire, bound)
            if with_versions:
                await connection.execute(_retire_agent, bound)

        await self._database.write(work)


async def _unended_of(
    connection: AsyncConnection, bound: Mapping[str, str], *, agent: bool
) -> str | None:
    for statement, noun in zip(_unended(agent), ("run", "evaluation"), strict=True):
        name = await connection.scalar(statement, bound)
        if name is not None:
            return f"the {noun} {name!r} has not ended"
    return None


async def _naming(
    connection: AsyncConnection, kind: ObjectKind, names: Callable[[Mapping[str, Any]], bool]
) -> str | None:
    rows = (await connection.execute(_documents, {"of_kind": kind.value})).all()
    return next((str(row.name) for row in rows if names(row.document)), None)


def _in_use(noun: str, name: str, why: str) -> ConflictError:
    return ConflictError(
        what=f"the {noun} {name!r} was not deleted",
        why=why,
        fix="delete or end that first",
        code="in_use",
    )
