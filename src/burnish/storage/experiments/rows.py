"""Experiments as rows and back."""

from __future__ import annotations

from typing import Any

from burnish.domain import Configuration, Experiment, ExperimentStatus, ExperimentType
from burnish.storage.engine.database import AnyRow, parse_time


def experiment_row(experiment: Experiment, now: str) -> dict[str, Any]:
    """A new row."""
    return {
        "id": experiment.id,
        "name": experiment.name,
        "type": experiment.type.value,
        "status": experiment.status.value,
        "agent_name": experiment.agent_name,
        "agent_fingerprint": None,
        "configuration_hash": experiment.configuration.hash,
        "suite_name": experiment.suite_name,
        "dataset_id": experiment.dataset_id,
        "planned_items": experiment.planned_items,
        "optimization_id": experiment.optimization_id,
        "created_at": parse_time(experiment.created_at) if experiment.created_at else now,
        "updated_at": parse_time(experiment.updated_at) if experiment.updated_at else now,
        "configuration": experiment.configuration.to_json(),
        "metadata": dict(experiment.metadata),
    }


def read_experiment(row: AnyRow) -> Experiment:
    """The record of a row."""
    return Experiment(
        id=row.id,
        name=row.name,
        type=ExperimentType(row.type),
        status=ExperimentStatus(row.status),
        agent_name=row.agent_name,
        configuration=Configuration.stored(row.configuration),
        suite_name=row.suite_name,
        dataset_id=row.dataset_id,
        planned_items=row.planned_items,
        optimization_id=row.optimization_id,
        metadata=row.metadata,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
