"""Every experiment of a search with its candidate and its times: thousands of rows at once."""

from __future__ import annotations

from typing import Any

from sqlalchemy import and_, bindparam, select
from sqlalchemy.ext.asyncio import AsyncConnection

from burnish.domain import ExperimentStatus, ExperimentType
from burnish.domain.run_insights import RunPoint
from burnish.storage.engine.bulk import as_stored, by_column, values_of
from burnish.storage.engine.codec import SafeText, decode_jsons, decode_texts
from burnish.storage.experiments.tables import experiments
from burnish.storage.optimizations.tables import candidates, trials

_trials, _candidates, _experiments = trials.c, candidates.c, experiments.c
_types = {one.value: one for one in ExperimentType}
_statuses = {one.value: one for one in ExperimentStatus}
_TEXTS = ("candidate_id", "experiment_id", "error", "rationale")
_SHOWN = (
    *("number", "candidate_id", "experiment_id", "type", "status", "total_items"),
    *("passed_items", "failed_items", "pass_rate", "total_cost", "avg_latency_ms"),
    *("avg_tokens", "avg_cost_usd", "error"),
)
_its_candidate = and_(
    _candidates.optimization_id == _trials.optimization_id, _candidates.number == _trials.number
)
_all = (
    select(
        *(as_stored(_trials[name]) for name in _SHOWN),
        _trials.objective_score.label("score"),
        _candidates.step_index,
        as_stored(_candidates.parent_candidate_ids),
        as_stored(_candidates.rationale),
        _experiments.created_at,
        _experiments.updated_at,
    )
    .select_from(
        trials.join(candidates, _its_candidate).outerjoin(
            experiments, _experiments.id == _trials.experiment_id
        )
    )
    .where(_trials.optimization_id == bindparam("of_id", type_=SafeText))
    .order_by(_trials.number, _trials.slot)
)
_of_one = _all.where(_trials.candidate_id == bindparam("of_candidate", type_=SafeText))


async def read(
    connection: AsyncConnection, optimization_id: str, candidate_id: str | None = None
) -> list[RunPoint]:
    """All points, or those of one candidate."""
    bound: dict[str, Any] = {"of_id": optimization_id}
    if candidate_id is not None:
        bound["of_candidate"] = candidate_id
    rows = (await connection.execute(_all if candidate_id is None else _of_one, bound)).all()
    if not rows:
        return []
    columns = by_column(rows)
    return values_of(
        RunPoint,
        len(rows),
        {
            **columns,
            **{name: decode_texts(columns[name]) for name in _TEXTS},
            "type": map(_types.__getitem__, columns["type"]),
            "status": map(_statuses.__getitem__, columns["status"]),
            "parent_candidate_ids": map(tuple, decode_jsons(columns["parent_candidate_ids"])),
        },
    )
