"""Candidates of a run with their trials, and what each scorer says of them on average."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, bindparam, func, select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

from burnish.domain import TrialResult
from burnish.domain.optimizer_runs import CandidateLine
from burnish.domain.read_models import Page
from burnish.storage.engine.bulk import as_stored
from burnish.storage.engine.codec import SafeText
from burnish.storage.engine.listing import sorted_page
from burnish.storage.experiments.tables import feedback_scores
from burnish.storage.optimizations.rows import read_candidates, read_trials
from burnish.storage.optimizations.tables import candidates, trials

_candidates, _trials, _scores = candidates.c, trials.c, feedback_scores.c
_UNREAD = ("optimization_id", "configuration_hash")
_page = select(*(as_stored(column) for column in _candidates if column.name not in _UNREAD))
_trials_of = select(*(as_stored(column) for column in _trials if not column.primary_key)).where(
    _trials.optimization_id == bindparam("of_id", type_=SafeText),
    _trials.slot == "",
    _trials.candidate_id.in_(bindparam("of_candidates", type_=SafeText, expanding=True)),
)
_means = (
    select(_scores.experiment_id, _scores.name, func.avg(_scores.value))
    .where(_scores.experiment_id.in_(bindparam("of_experiments", type_=SafeText, expanding=True)))
    .group_by(_scores.experiment_id, _scores.name)
    .order_by(_scores.experiment_id, func.min(_scores.position))
)


def statement(run_id: str, *, limit: int, after: Sequence[Any] | None) -> Select[Any]:
    """What reads a page of candidates."""
    wanted = _page.where(_candidates.optimization_id == run_id)
    return sorted_page(wanted, [_candidates.number], down=False, limit=limit, after=after)


async def page(
    connection: AsyncConnection, run_id: str, wanted: Select[Any], limit: int
) -> Page[CandidateLine]:
    """The candidates of a page."""
    found = read_candidates(run_id, (await connection.execute(wanted)).all())
    shown = found[:limit]
    if not shown:
        return Page(items=())
    bound = {"of_id": run_id, "of_candidates": [one.id for one in shown]}
    ran: dict[str, TrialResult] = {
        one.candidate_id: one
        for one in read_trials(run_id, (await connection.execute(_trials_of, bound)).all())
    }
    means = await scorer_means(connection, [one.experiment_id for one in ran.values()])
    lines = [
        CandidateLine(
            candidate=one,
            trial=(trial := ran.get(one.id)),
            scores={} if trial is None else means.get(trial.experiment_id, {}),
        )
        for one in shown
    ]
    return Page(items=lines, next=(shown[-1].number,) if len(found) > limit else None)


async def winners(
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
    means = await scorer_means(connection, list(experiments.values()))
    return {run: means.get(experiment, {}) for run, experiment in experiments.items()}


async def scorer_means(
    connection: AsyncConnection, experiment_ids: Sequence[str]
) -> dict[str, dict[str, float]]:
    """The mean of each scorer by experiment, in the order of the suite's scorers."""
    found: dict[str, dict[str, float]] = {}
    bound = {"of_experiments": list(experiment_ids)}
    for experiment, name, mean in await connection.execute(_means, bound):
        found.setdefault(experiment, {})[name] = mean
    return found
