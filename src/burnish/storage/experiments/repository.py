"""Experiment repository: experiments, their item results and what they amount to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, insert, select, tuple_, update
from sqlalchemy.exc import IntegrityError

from burnish.domain import (
    CacheScope,
    Configuration,
    ConflictError,
    Experiment,
    ExperimentStatus,
    ExperimentSummary,
    ExperimentType,
    ItemResult,
    Lease,
    Round,
    RoundScore,
    Spending,
    UsageError,
)
from burnish.storage.engine.bulk import as_stored, row_of, value_of
from burnish.storage.engine.codec import SafeText
from burnish.storage.engine.connections import AsyncConnection
from burnish.storage.engine.database import AnyRow, Database, parse_time
from burnish.storage.engine.failures import is_foreign_key_violation
from burnish.storage.experiments import results as stored_results
from burnish.storage.experiments import rounds as stored_rounds
from burnish.storage.experiments import summaries
from burnish.storage.experiments.call_cache import forget_tool_calls
from burnish.storage.experiments.results import Origin
from burnish.storage.experiments.rounds import RoundsByRun
from burnish.storage.experiments.tables import experiments
from burnish.storage.jobs import leases

_columns = experiments.c
_of_experiment = _columns.id == bindparam("experiment", type_=SafeText)
_shown = select(
    *(column for column in _columns if column is not _columns.configuration),
    as_stored(_columns.configuration),
)
_by_id = _shown.where(_of_experiment)
_stamp = select(_columns.updated_at).where(_of_experiment)
_moment = select(_columns.created_at).where(_of_experiment)
_lock_metadata = select(_columns.metadata).where(_of_experiment).with_for_update()


class SqlExperimentRepository:
    """An ExperimentRepository on an open database.

    `on_stored` is called with results once they are stored.
    """

    def __init__(
        self,
        database: Database,
        on_stored: Callable[[Sequence[ItemResult]], None] | None = None,
    ) -> None:
        self._database = database
        self._on_stored = on_stored
        # Experiments whose agent, and scopes that are on record already: hints that save statements.
        self._noted: set[str] = set()
        self._scopes: set[CacheScope] = set()

    async def create_experiment(
        self, experiment: Experiment, *, lease: Lease | None = None
    ) -> None:
        """Add a new experiment."""
        row = experiment_row(experiment, self._database.stamp())
        attempts = 0

        async def work(connection: AsyncConnection) -> None:
            nonlocal attempts
            attempts += 1
            await leases.share(connection, lease)
            stamp = await connection.scalar(_stamp, {"experiment": experiment.id})
            if stamp is None:
                await _add(connection, row)
            elif attempts == 1 or stamp != row["updated_at"]:
                raise _taken(experiment.id)
            # Else an earlier attempt got through, and only its answer was lost.

        await self._database.write(work)

    async def update_experiment(
        self,
        experiment_id: str,
        *,
        status: ExperimentStatus | None = None,
        planned_items: int | None = None,
        metadata: Mapping[str, Any] | None = None,
        lease: Lease | None = None,
    ) -> None:
        """Change what is given."""
        changes: dict[str, Any] = {"updated_at": self._database.stamp()}
        if status is not None:
            changes["status"] = status.value
        if planned_items is not None:
            changes["planned_items"] = planned_items

        async def work(connection: AsyncConnection) -> None:
            await leases.share(connection, lease)
            merged = {}
            if metadata is not None:
                # Locked, so that nobody else's keys are lost between reading and writing.
                stored = await connection.scalar(_lock_metadata, {"experiment": experiment_id})
                merged = {"metadata": {**(stored or {}), **metadata}}
            changed = await connection.execute(
                update(experiments).where(_columns.id == experiment_id).values(**changes, **merged)
            )
            if not changed.rowcount:
                raise _not_found(experiment_id)
            if status is ExperimentStatus.COMPLETED:
                await forget_tool_calls(connection, experiment_id)

        await self._database.write(work)

    async def get_experiment(self, experiment_id: str) -> Experiment:
        """One experiment."""
        stored = await self._database.one_row(_by_id, {"experiment": experiment_id})
        if stored is None:
            raise _not_found(experiment_id)
        return read_experiment(stored)

    async def list_experiments(
        self,
        *,
        limit: int = 50,
        before: str | None = None,
        optimization_id: str | None = None,
        name: str | None = None,
        standalone: bool = False,
    ) -> list[Experiment]:
        """Experiments, the newest first; `standalone` ones are part of nothing else."""
        newest_first = (_columns.created_at.desc(), _columns.id.desc())
        statement = _shown.order_by(*newest_first).limit(max(limit, 0))
        if optimization_id is not None:
            statement = statement.where(_columns.optimization_id == optimization_id)
        if name is not None:
            statement = statement.where(_columns.name == name)
        if standalone:
            whole = _columns.type != ExperimentType.MINI_BATCH.value
            statement = statement.where(_columns.optimization_id.is_(None), whole)

        async def work(connection: AsyncConnection) -> Sequence[AnyRow]:
            wanted = statement
            if before is not None:
                moment = await connection.scalar(_moment, {"experiment": before})
                if moment is None:
                    raise _not_found(before)
                wanted = wanted.where(
                    tuple_(_columns.created_at, _columns.id) < tuple_(moment, before)
                )
            return (await connection.execute(wanted)).all()

        return [read_experiment(row) for row in await self._database.read(work)]

    async def save_results(
        self,
        experiment_id: str,
        results: Sequence[ItemResult],
        *,
        cache: CacheScope | None = None,
        scorers_fingerprint: str | None = None,
        rounds: Sequence[Round] = (),
        lease: Lease | None = None,
    ) -> None:
        """Keep results; later ones replace earlier ones of the same item and repeat."""
        if not results and not rounds:
            return
        origin = Origin(cache, scorers_fingerprint, self._database.tick())
        news = cache is not None and experiment_id not in self._noted
        fresh = stored_results.new_scopes(cache, results, rounds, self._scopes)

        async def work(connection: AsyncConnection) -> None:
            await leases.share(connection, lease)
            if cache is not None and news:
                await stored_results.note_agent(connection, experiment_id, cache.agent_fingerprint)
            await stored_results.note_scopes(connection, fresh)
            try:
                await stored_rounds.save(connection, experiment_id, rounds, origin)
                await stored_results.save(connection, experiment_id, results, origin)
            except IntegrityError as error:
                if is_foreign_key_violation(error):
                    raise _not_found(experiment_id) from None
                raise

        await self._database.write(work)
        if news:
            self._noted.add(experiment_id)
        self._scopes.update(fresh)
        if self._on_stored is not None:
            self._on_stored(results)

    async def cached_results(
        self, scope: CacheScope, keys: Sequence[tuple[str, int]]
    ) -> dict[tuple[str, int], tuple[ItemResult, str | None]]:
        """The newest error-free results by (item hash, repeat)."""
        found = await stored_results.cached(self._database, scope, keys)
        missing = [key for key in keys if key not in found]
        if missing:
            found |= await stored_rounds.cached(self._database, scope, missing)
        return found

    async def has_results(self, scope: CacheScope) -> bool:
        """Whether there may be anything cached under the scope."""
        return await self._database.read(
            lambda connection: stored_results.has_scope(connection, scope)
        )

    async def stream_results(self, experiment_id: str) -> AsyncIterator[ItemResult]:
        """All results by item id and repeat."""
        await self._database.read(lambda connection: _require(connection, experiment_id))
        async for page in stored_results.pages(self._database, experiment_id):
            for result in page:
                yield result

    async def get_results(
        self, experiment_id: str, *, item_ids: Sequence[str] | None = None
    ) -> list[ItemResult]:
        """Results as a list."""
        if item_ids is None:
            return [result async for result in self.stream_results(experiment_id)]
        await self._database.read(lambda connection: _require(connection, experiment_id))
        return await stored_results.of_items(self._database, experiment_id, item_ids)

    async def get_rounds(self, experiment_id: str, *, item_ids: Sequence[str]) -> RoundsByRun:
        """The rounds of some items, by run."""
        return await stored_rounds.of_items(self._database, experiment_id, item_ids)

    async def open_rounds(self, experiment_id: str) -> RoundsByRun:
        """Rounds of runs that have no result."""
        return await stored_rounds.unfinished(self._database, experiment_id)

    def stream_round_scores(self, experiment_id: str) -> AsyncIterator[RoundScore]:
        """The scores of all rounds in order."""
        return stored_rounds.scores(self._database, experiment_id)

    async def item_scores(self, experiment_id: str) -> dict[str, float]:
        """The mean score by item id."""

        async def work(connection: AsyncConnection) -> dict[str, float]:
            await _require(connection, experiment_id)
            return await summaries.mean_scores(connection, experiment_id)

        return await self._database.read(work)

    async def summarise(self, experiment_id: str) -> ExperimentSummary:
        """What the results amount to."""

        async def work(connection: AsyncConnection) -> ExperimentSummary:
            await _require(connection, experiment_id)
            return await summaries.summarise(connection, experiment_id)

        return await self._database.read(work)

    async def evaluated(self, optimization_id: str) -> set[tuple[str, str, int]]:
        """Every (configuration hash, item id, repeat) of an optimization that has a result."""
        return await self._database.read(
            lambda connection: summaries.evaluated(connection, optimization_id)
        )

    async def spending_of(self, optimization_id: str) -> Spending:
        """What all experiments of an optimization spent."""
        return await self._database.read(
            lambda connection: summaries.spending(connection, optimization_id)
        )


async def _require(connection: AsyncConnection, experiment_id: str) -> None:
    if await connection.scalar(_moment, {"experiment": experiment_id}) is None:
        raise _not_found(experiment_id)


async def _add(connection: AsyncConnection, row: Mapping[str, Any]) -> None:
    try:
        await connection.execute(insert(experiments), row)
    except IntegrityError as error:
        if is_foreign_key_violation(error):
            raise UsageError(
                what=f"the experiment {row['id']!r} cannot be created",
                why=f"there is no dataset {row['dataset_id']!r}",
                fix="store the dataset first",
                code="not_found",
            ) from None
        raise _taken(row["id"]) from None


def _not_found(experiment_id: str) -> UsageError:
    return UsageError(
        what=f"there is no experiment {experiment_id!r}",
        why="no experiment with that id is stored",
        fix="`burnish list` shows those that are",
        code="not_found",
    )


def _taken(experiment_id: str) -> ConflictError:
    return ConflictError(
        what=f"the experiment {experiment_id!r} cannot be created",
        why="its id is taken",
        fix="use a new id",
    )


def experiment_row(experiment: Experiment, now: str) -> dict[str, Any]:
    """A new row."""
    return row_of(
        experiments,
        experiment,
        agent_fingerprint=None,
        configuration_hash=experiment.configuration.hash,
        created_at=parse_time(experiment.created_at) if experiment.created_at else now,
        updated_at=parse_time(experiment.updated_at) if experiment.updated_at else now,
        configuration=experiment.configuration.to_json(),
        metadata=dict(experiment.metadata),
    )


def read_experiment(row: AnyRow) -> Experiment:
    """The record of a row."""
    return value_of(
        Experiment,
        row,
        type=ExperimentType(row.type),
        status=ExperimentStatus(row.status),
        configuration=Configuration.stored(row.configuration),
    )
