"""The report of a compression that is stored, whoever ran it."""

from __future__ import annotations

import asyncio

from burnish.app.compress.report import CompressionReport, read_report
from burnish.app.optimize.optimizations import load_result
from burnish.app.optimize.run_spec import stored_settings
from burnish.app.wiring import Workspace
from burnish.config.search import SearchSpec, build_optimizer_of
from burnish.config.served_project import ServedProject
from burnish.domain import Configuration, ConflictError, OptimizationRecord, UsageError
from burnish.optimizers.compress.optimizer import Compress


async def read_compression(
    workspace: Workspace,
    project: ServedProject,
    optimization_id: str,
    *,
    calls_per_month: int | None = None,
) -> tuple[CompressionReport, Configuration]:
    """The report, and the configuration that it began with."""
    record = await workspace.optimizations.get_optimization(optimization_id)
    _require_compression(record)
    settings = stored_settings(record, project.folder)
    optimizer = await asyncio.to_thread(build_optimizer_of, SearchSpec.of(settings.optimizer))
    assert isinstance(optimizer, Compress)
    result = await load_result(workspace, optimization_id)
    # With the models' settings, which have their prices; nothing is called.
    own = workspace.beside(settings.models, saved=lambda _: None)
    try:
        report = await read_report(
            own,
            result,
            optimizer,
            model=settings.agent.model,
            calls_per_month=calls_per_month,
        )
    finally:
        await own.models.close()
    return report, result.baseline.configuration


def _require_compression(record: OptimizationRecord) -> None:
    if record.optimizer_name != Compress.name:
        raise UsageError(
            what=f"optimization {record.id} has no report of a compression",
            why=f"it was run by {record.optimizer_name}",
            fix="take one whose optimizer is compress; every run has a `/report`",
            code="not_a_compression",
        )
    if "settings" not in record.spec:
        raise UsageError(
            what=f"the report of compression {record.id} cannot be read here",
            why="it was started from Python, with settings that only that program has",
            fix="use the report that burnish.compress(…) returns",
            code="started_from_python",
        )
    searched = (record.checkpoint or {}).get("optimizer_state") is not None
    if record.result is None or not searched or record.result.get("baseline") is None:
        raise ConflictError(
            what=f"compression {record.id} has no report",
            why=f"it is {record.status.value}"
            if record.result is None
            else "it ended before its search began",
            fix="wait for its end, or resume it",
            code="no_result",
        )
