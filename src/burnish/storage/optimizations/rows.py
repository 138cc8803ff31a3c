"""Optimizations, candidates, trials and rejections as rows and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Any

from burnish.domain import (
    Candidate,
    Configuration,
    ExperimentStatus,
    ExperimentType,
    OptimizationRecord,
    OptimizationStatus,
    Rejection,
    TrialResult,
    TrialSummary,
)
from burnish.storage.engine.bulk import Row as BulkRow
from burnish.storage.engine.bulk import by_column, values_of
from burnish.storage.engine.codec import decode_jsons, decode_texts
from burnish.storage.engine.database import AnyRow, parse_time

DOCUMENTS = ("spec", "checkpoint", "result")

_statuses = {one.value: one for one in ExperimentStatus}
_types = {one.value: one for one in ExperimentType}


def record_row(record: OptimizationRecord, now: str) -> dict[str, Any]:
    """A new optimization. Whoever runs it takes a lease first, so it is stored without an owner."""
    return {
        "id": record.id,
        "name": record.name,
        "status": record.status.value,
        "objective_name": record.objective_name,
        "agent_name": record.agent_name,
        "suite_name": record.suite_name,
        "optimizer_name": record.optimizer_name,
        "dataset_id": record.dataset_id,
        "seed": record.seed,
        "stop_reason": record.stop_reason,
        "framework_error": record.framework_error,
        "cancel_requested": record.cancel_requested,
        "best_candidate_id": record.best_candidate_id,
        "best_score": record.best_score,
        "baseline_score": record.baseline_score,
        "lease_owner": None,
        "lease_token": 0,
        "lease_expires": None,
        "created_at": parse_time(record.created_at) if record.created_at else now,
        "updated_at": parse_time(record.updated_at) if record.updated_at else now,
    }


def document_rows(record: OptimizationRecord) -> list[BulkRow]:
    """The long parts of a new optimization that it has already."""
    named = ((name, getattr(record, name)) for name in DOCUMENTS)
    return [(record.id, name, document) for name, document in named if document is not None]


def read_record(row: AnyRow) -> OptimizationRecord:
    """An optimization, with its documents where the row has them."""
    fields = dict(row._mapping)  # noqa: SLF001 - SQLAlchemy's public name for it
    fields["status"] = OptimizationStatus(fields["status"])
    return OptimizationRecord(**fields)


def candidate_row(optimization_id: str, candidate: Candidate) -> BulkRow:
    """A candidate in the order of the table's columns."""
    return (
        optimization_id,
        candidate.id,
        candidate.number,
        candidate.step_index,
        candidate.configuration.hash,
        candidate.mask_id,
        list(candidate.parent_candidate_ids),
        candidate.rationale,
        candidate.configuration.to_json(),
        candidate.metadata or None,
    )


def read_candidates(optimization_id: str, rows: Sequence[AnyRow]) -> list[Candidate]:
    """Candidates from their columns as they are stored."""
    if not rows:
        return []
    columns = by_column(rows)
    return values_of(
        Candidate,
        len(rows),
        {
            **columns,
            "id": decode_texts(columns["candidate_id"]),
            "optimization_id": repeat(optimization_id),
            "configuration": map(Configuration.stored, columns["configuration"]),
            "parent_candidate_ids": map(tuple, decode_jsons(columns["parent_candidate_ids"])),
            "rationale": decode_texts(columns["rationale"]),
            "mask_id": decode_texts(columns["mask_id"]),
            # Candidates of older databases have none.
            "metadata": decode_jsons(one or "{}" for one in columns["metadata"]),
        },
    )


def trial_values(optimization_id: str, trial: TrialResult) -> dict[str, Any]:
    """A trial by column; its number is the candidate's, which the database knows."""
    summary = trial.summary
    return {
        "optimization_id": optimization_id,
        "slot": "" if trial.type is ExperimentType.TRIAL else trial.experiment_id,
        "candidate_id": trial.candidate_id,
        "mask_id": trial.mask_id,
        "experiment_id": trial.experiment_id,
        "type": trial.type.value,
        "status": trial.status.value,
        "objective_score": trial.objective_score,
        "total_items": summary.total_items,
        "passed_items": summary.passed_items,
        "failed_items": summary.failed_items,
        "pass_rate": summary.pass_rate,
        "total_cost": summary.total_cost,
        "avg_latency_ms": summary.avg_latency_ms,
        "avg_ttft_ms": summary.avg_ttft_ms,
        "error": trial.error,
        "avg_tokens": summary.avg_tokens,
        "avg_cost_usd": summary.avg_cost_usd,
    }


def read_trials(optimization_id: str, rows: Sequence[AnyRow]) -> list[TrialResult]:
    """Trials from their columns as they are stored."""
    if not rows:
        return []
    columns = by_column(rows)
    texts = ("candidate_id", "mask_id", "experiment_id", "error")
    return values_of(
        TrialResult,
        len(rows),
        {
            **columns,
            **{name: decode_texts(columns[name]) for name in texts},
            "optimization_id": repeat(optimization_id),
            "status": map(_statuses.__getitem__, columns["status"]),
            "summary": values_of(TrialSummary, len(rows), columns),
            "type": map(_types.__getitem__, columns["type"]),
        },
    )


def rejection_rows(
    optimization_id: str, rejections: Iterable[Rejection], start: int, now: str
) -> list[BulkRow]:
    """Rejections in the order of the table's columns, from a position on."""
    return [
        (
            optimization_id,
            position,
            one.step_index,
            one.proposed_index,
            one.reason_code,
            one.message,
            one.configuration_hash,
            parse_time(one.created_at) if one.created_at else now,
        )
        for position, one in enumerate(rejections, start)
    ]


def read_rejections(rows: Iterable[Sequence[Any]]) -> list[Rejection]:
    """Rejections from rows as `rejection_rows` makes them, but for the first two columns."""
    return [
        Rejection(
            step_index=step_index,
            proposed_index=proposed_index,
            reason_code=reason_code,
            message=message,
            configuration_hash=configuration_hash,
            created_at=created_at,
        )
        for step_index, proposed_index, reason_code, message, configuration_hash, created_at in rows
    ]
