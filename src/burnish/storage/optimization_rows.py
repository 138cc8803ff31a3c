"""Optimizations, candidates, trials and rejections as rows and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
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
from burnish.storage.bulk import Row as BulkRow
from burnish.storage.database import AnyRow, parse_time

DOCUMENTS = ("spec", "checkpoint", "result")

_statuses = {one.value: one for one in ExperimentStatus}
_types = {one.value: one for one in ExperimentType}
# Half the cost of `decode`, which looks for blanks around a value; ours has none.
_scan = json.JSONDecoder().scan_once  # type: ignore[attr-defined]


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
    )


def read_candidates(optimization_id: str, rows: Iterable[Sequence[Any]]) -> list[Candidate]:
    """Candidates from the columns id to configuration, with the JSON still as text."""
    parents: dict[str, tuple[str, ...]] = {}
    made = []
    for identity, number, step_index, mask_id, parents_text, rationale, text in rows:
        if parents_text not in parents:
            parents[parents_text] = tuple(_scan(parents_text, 0)[0])
        document = _scan(text, 0)[0]
        # Checked and normalised before it was stored, so it is not done again for thousands.
        configuration = Configuration(
            sections=document["sections"],
            parameters=document["parameters"],
            examples=tuple(document["examples"]),
        )
        made.append(
            Candidate(
                id=identity,
                optimization_id=optimization_id,
                number=number,
                step_index=step_index,
                configuration=configuration,
                parent_candidate_ids=parents[parents_text],
                rationale=rationale,
                mask_id=mask_id,
            )
        )
    return made


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
    }


def read_trials(optimization_id: str, rows: Iterable[Sequence[Any]]) -> list[TrialResult]:
    """Trials from rows in the order of `trial_values`, but for the optimization and the slot."""
    return [
        TrialResult(
            optimization_id=optimization_id,
            candidate_id=candidate_id,
            mask_id=mask_id,
            experiment_id=experiment_id,
            status=_statuses[status],
            objective_score=score,
            summary=TrialSummary(
                total_items=total,
                passed_items=passed,
                failed_items=failed,
                pass_rate=pass_rate,
                total_cost=cost,
                avg_latency_ms=latency,
                avg_ttft_ms=ttft,
            ),
            error=error,
            type=_types[kind],
        )
        for (
            candidate_id,
            mask_id,
            experiment_id,
            kind,
            status,
            score,
            total,
            passed,
            failed,
            pass_rate,
            cost,
            latency,
            ttft,
            error,
        ) in rows
    ]


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
