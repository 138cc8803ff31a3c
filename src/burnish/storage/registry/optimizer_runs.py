"""Runs of configured optimizers: who started them from what, their candidates, and how they ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from sqlalchemy import Select, bindparam, func, insert, select, tuple_, update

from burnish.domain import (
    ConflictError,
    ExperimentType,
    OptimizationStatus,
    TrialResult,
    UsageError,
)
from burnish.domain.pages import Page
from burnish.domain.registry import CandidateLine, OptimizerRun, RunLine
from burnish.storage.engine.bulk import value_of
from burnish.storage.engine.codec import JsonText, PlainText, SafeText
from burnish.storage.engine.connections import AsyncConnection
from burnish.storage.engine.database import Database
from burnish.storage.engine.listing import sorted_page
from burnish.storage.experiments.tables import feedback_scores
from burnish.storage.jobs import leases
from burnish.storage.jobs.tables import run_queue
from burnish.storage.optimizations.rows import (
    CANDIDATE_COLUMNS,
    RECORD_COLUMNS,
    TRIAL_COLUMNS,
    read_candidates,
    read_record,
    read_trials,
)
from burnish.storage.optimizations.tables import candidates, optimizations, trials
from burnish.storage.registry.tables import objects, optimizer_runs

_runs, _optimizations = optimizer_runs.c, optimizations.c
_FIELDS = tuple(field.name for field in fields(OptimizerRun))
_of_run = _runs.id == bindparam("of_id", type_=SafeText)
_of_optimizer = _runs.optimizer_id == bindparam("of_optimizer", type_=SafeText)
_of_optimizers = _runs.optimizer_id.in_(bindparam("of_optimizers", type_=SafeText, expanding=True))
_is_open = _optimizations.status.in_([one.value for one in OptimizationStatus if not one.final])
_joined = optimizer_runs.join(optimizations, _optimizations.id == _runs.id)
_lock = (
    select(objects.c.id)
    .where(objects.c.id == bindparam("of_optimizer", type_=SafeText))
    .with_for_update()
)
_claimed = select(_runs.id).where(
    _of_optimizer, _runs.due_at == bindparam("of_due", type_=PlainText)
)
_open_run = select(_runs.id).select_from(_joined).where(_of_optimizer, _is_open)
_open_runs = (
    select(_runs.optimizer_id, _runs.id).select_from(_joined).where(_of_optimizers, _is_open)
)
_add = insert(optimizer_runs)
_queue = insert(run_queue)
_one = select(optimizer_runs).where(_of_run)
_run_of = (
    select(_runs.id)
    .join_from(optimizer_runs, candidates, candidates.c.optimization_id == _runs.id)
    .where(_of_optimizer, candidates.c.candidate_id == bindparam("of_candidate", type_=SafeText))
    .order_by(_runs.started_at.desc())
    .limit(1)
)
_last_due = (
    select(_runs.optimizer_id, func.max(_runs.due_at))
    .where(_of_optimizers, _runs.due_at.is_not(None))
    .group_by(_runs.optimizer_id)
)
_unsettled = (
    select(optimizer_runs)
    .select_from(_joined)
    .where(_runs.settled.is_(False), ~_is_open)
    .order_by(_runs.started_at, _runs.id)
)
_settle = (
    update(optimizer_runs)
    .where(_of_run, _runs.settled.is_(False))
    .values(settled=True, promotion=bindparam("done", type_=JsonText))
)
# A run that was decided on without a person has compared on the suite's held-out items.
_decided = select(optimizer_runs).where(
    _runs.agent_name == bindparam("of_agent", type_=SafeText),
    _runs.suite_id == bindparam("of_suite", type_=SafeText),
    _runs.suite_version == bindparam("of_version"),
    _runs.promotion.is_not(None),
    _runs.id != bindparam("of_id", type_=SafeText),
)
_OWN = "run_"
_line = select(*(_runs[name].label(_OWN + name) for name in _FIELDS), *RECORD_COLUMNS).select_from(
    _joined
)

_candidates, _trials, _scores = candidates.c, trials.c, feedback_scores.c
_all_candidates = select(*CANDIDATE_COLUMNS)
_trials_of = select(*TRIAL_COLUMNS).where(
    _trials.optimization_id == bindparam("of_id", type_=SafeText),
    _trials.candidate_id.in_(bindparam("of_candidates", type_=SafeText, expanding=True)),
)
_means = (
    select(_scores.experiment_id, _scores.name, func.avg(_scores.value))
    .where(_scores.experiment_id.in_(bindparam("of_experiments", type_=SafeText, expanding=True)))
    .group_by(_scores.experiment_id, _scores.name)
    .order_by(_scores.experiment_id, func.min(_scores.position))
)


class SqlOptimizerRunRepository:
    """Keeps which optimizations are runs of which optimizer."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, run: OptimizerRun) -> bool:
        """Note a run and queue its optimization, in one transaction.

        False when its due time was claimed before, by whomever. ConflictError `already_running`
        while another run of the optimizer has not ended: there are never two at once.
        """
        now = self._database.stamp()
        row = {name: getattr(run, name) for name in _FIELDS} | {"started_at": now}
        bound = {"of_optimizer": run.optimizer_id, "of_due": run.due_at, "of_id": run.id}

        async def work(connection: AsyncConnection) -> bool:
            # Whoever else begins a run of this optimizer waits here until this one is through.
            await connection.execute(_lock, bound)
            if (await connection.execute(_one, bound)).one_or_none() is not None:
                return run.due_at is None  # An earlier attempt, or another process with this time.
            if run.due_at is not None and await connection.scalar(_claimed, bound) is not None:
                return False
            other = await connection.scalar(_open_run, bound)
            if other is not None:
                raise _running(run.optimizer_name, other)
            await connection.execute(_add, row)
            queued = {"optimization_id": run.id, "queued_at": now, "attempts": 0}
            await connection.execute(_queue.values(ready_at=leases.DatabaseTime()), queued)
            return True

        return await self._database.write(work)

    async def get(self, run_id: str) -> OptimizerRun:
        """UsageError with code `not_found` when there is none."""
        found = await self._database.one_row(_one, {"of_id": run_id})
        if found is None:
            raise _missing(run_id)
        return value_of(OptimizerRun, found)

    async def page(
        self, optimizer_id: str, *, limit: int = 50, after: Sequence[Any] | None = None
    ) -> Page[RunLine]:
        """The newest first."""
        wanted = _line.where(_runs.optimizer_id == optimizer_id)
        keys = [_runs.started_at, _runs.id]
        statement = sorted_page(wanted, keys, down=True, limit=limit, after=after)
        found = await self._database.read(lambda connection: _lines(connection, statement))
        last = found[limit - 1].run if len(found) > limit else None
        place = None if last is None else (last.started_at, last.id)
        return Page(items=found[:limit], next=place)

    async def line(self, run_id: str) -> RunLine:
        """One run with its record; UsageError `not_found` when there is none."""
        statement = _line.where(_runs.id == run_id)
        found = await self._database.read(lambda connection: _lines(connection, statement))
        if not found:
            raise _missing(run_id)
        return found[0]

    async def candidates(
        self, run_id: str, *, limit: int = 50, after: Sequence[Any] | None = None
    ) -> Page[CandidateLine]:
        """By number; the baseline is number 0."""
        return await self._database.read(
            lambda connection: _candidate_page(connection, run_id, limit, after)
        )

    async def find_run(self, optimizer_id: str, candidate_id: str) -> str:
        """The latest run that has this candidate; UsageError `not_found` when none has."""
        bound = {"of_optimizer": optimizer_id, "of_candidate": candidate_id}
        found: str | None = await self._database.read(
            lambda connection: connection.scalar(_run_of, bound)
        )
        if found is None:
            raise UsageError(
                what=f"there is no candidate {candidate_id!r}",
                why="no run of the optimizer has one with that id",
                fix="take an id from the candidates of a run",
                code="not_found",
            )
        return found

    async def last_due(self, optimizer_ids: Sequence[str]) -> dict[str, str]:
        """The latest due time that was claimed, by optimizer; without any it is left out."""
        return await self._pairs(_last_due, optimizer_ids)

    async def running(self, optimizer_ids: Sequence[str]) -> dict[str, str]:
        """The run of each that has not ended; those without one are left out."""
        return await self._pairs(_open_runs, optimizer_ids)

    async def unsettled(self, *, limit: int = 50) -> list[OptimizerRun]:
        """Runs whose optimization has ended and that still want something done."""
        rows = await self._database.all_rows(_unsettled.limit(limit))
        return [value_of(OptimizerRun, row) for row in rows]

    async def settle(self, run_id: str, promotion: Mapping[str, Any] | None) -> None:
        """Nothing is left to do; what was done is kept. The first one counts."""
        bound = {"of_id": run_id, "done": None if promotion is None else dict(promotion)}
        await self._database.write(lambda connection: connection.execute(_settle, bound))

    async def decided(self, run: OptimizerRun) -> list[OptimizerRun]:
        """Other runs for the agent on the same suite after which something was done, or refused."""
        bound = {
            "of_agent": run.agent_name,
            "of_suite": run.suite_id,
            "of_version": run.suite_version,
            "of_id": run.id,
        }
        rows = await self._database.all_rows(_decided, bound)
        return [value_of(OptimizerRun, row) for row in rows]

    async def _pairs(self, statement: Any, optimizer_ids: Sequence[str]) -> dict[str, str]:
        bound = {"of_optimizers": list(optimizer_ids)}
        return dict(await self._database.all_rows(statement, bound))


async def _lines(connection: AsyncConnection, statement: Select[Any]) -> list[RunLine]:
    found = []
    for row in await connection.execute(statement):
        run = OptimizerRun(**{name: getattr(row, _OWN + name) for name in _FIELDS})
        found.append((run, read_record(row)))
    best = [(run.id, record.best_candidate_id) for run, record in found]
    scores = await _winner_scores(connection, best)
    return [RunLine(run=run, record=record, scores=scores.get(run.id, {})) for run, record in found]


def _missing(run_id: str) -> UsageError:
    return UsageError(
        what=f"there is no run {run_id!r} of an optimizer",
        why="no run with that id is stored",
        fix="take an id from the optimizer's runs",
        code="not_found",
    )


def _running(name: str, run_id: str) -> ConflictError:
    return ConflictError(
        what=f"the optimizer {name!r} was not started",
        why=f"its run {run_id} has not ended, and there are never two at once",
        fix=f"wait for it, or cancel it with POST /v1/private/optimizations/{run_id}/cancel",
        code="already_running",
    )


async def _candidate_page(
    connection: AsyncConnection, run_id: str, limit: int, after: Sequence[Any] | None
) -> Page[CandidateLine]:
    wanted = sorted_page(
        _all_candidates.where(_candidates.optimization_id == run_id),
        [_candidates.number],
        down=False,
        limit=limit,
        after=after,
    )
    found = read_candidates(run_id, (await connection.execute(wanted)).all())
    shown = found[:limit]
    if not shown:
        return Page(items=())
    bound = {"of_id": run_id, "of_candidates": [one.id for one in shown]}
    found_trials = read_trials(run_id, (await connection.execute(_trials_of, bound)).all())
    ran = {one.candidate_id: one for one in sorted(found_trials, key=_telling)}
    means = await _scorer_means(connection, [one.experiment_id for one in ran.values()])
    lines = [
        CandidateLine(
            candidate=one,
            trial=(trial := ran.get(one.id)),
            scores={} if trial is None else means.get(trial.experiment_id, {}),
        )
        for one in shown
    ]
    return Page(items=lines, next=(shown[-1].number,) if len(found) > limit else None)


def _telling(trial: TrialResult) -> tuple[bool, bool, int, str]:
    """What says most about a candidate comes last."""
    is_trial = trial.type is ExperimentType.TRIAL
    return is_trial, not trial.status.final, trial.summary.total_items, trial.experiment_id


async def _winner_scores(
    connection: AsyncConnection, best: Sequence[tuple[str, str | None]]
) -> dict[str, dict[str, float]]:
    """The means of each run's best candidate, by run."""
    pairs = [(run, candidate) for run, candidate in best if candidate is not None]
    if not pairs:
        return {}
    wanted = select(_trials.optimization_id, _trials.experiment_id).where(
        _trials.slot == "", tuple_(_trials.optimization_id, _trials.candidate_id).in_(pairs)
    )
    experiments = dict((await connection.execute(wanted)).all())
    means = await _scorer_means(connection, list(experiments.values()))
    return {run: means.get(experiment, {}) for run, experiment in experiments.items()}


async def _scorer_means(
    connection: AsyncConnection, experiment_ids: Sequence[str]
) -> dict[str, dict[str, float]]:
    """The mean of each scorer by experiment, in the order of the suite's scorers."""
    found: dict[str, dict[str, float]] = {}
    bound = {"of_experiments": list(experiment_ids)}
    for experiment, name, mean in await connection.execute(_means, bound):
        found.setdefault(experiment, {})[name] = mean
    return found
