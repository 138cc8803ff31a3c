"""JSON: one document, or one line a run."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from burnish.app.evaluate.result import EvaluationResult
from burnish.cli.exports.records import Record


async def json_lines(records: AsyncIterator[Record]) -> AsyncIterator[str]:
    """One object a line."""
    async for record in records:
        yield _dumps(record.to_json()) + "\n"


async def json_document(
    result: EvaluationResult, records: AsyncIterator[Record]
) -> AsyncIterator[str]:
    """One document, written while it is read: `experiment`, `summary` and `results`."""
    experiment = result.experiment
    head = {
        "id": experiment.id,
        "name": experiment.name,
        "type": experiment.type.value,
        "status": experiment.status.value,
        "agent": experiment.agent_name,
        "suite": experiment.suite_name,
        "planned_items": experiment.planned_items,
        "created_at": experiment.created_at,
        "configuration": experiment.configuration.to_json(),
        "configuration_hash": experiment.configuration.hash,
        "metadata": dict(experiment.metadata),
    }
    yield f'{{"experiment": {_dumps(head)},\n"summary": {_dumps(result.to_json())},\n"results": ['
    separator = "\n"
    async for record in records:
        yield separator + _dumps(record.to_json())
        separator = ",\n"
    yield "\n]}\n"


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
